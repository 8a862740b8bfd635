import { z } from 'zod'

export type Json = Record<string, unknown>

/** Schemas of the description: those with an id become components, everything else stands where it is used. */
export type SchemaComponents = { readonly components: Record<string, Json>; readonly of: (schema: z.ZodType) => Json }

/** Name of the component that stands for `z.json()`. */
const ANY_JSON = 'JsonValue'
/** Spelled out it would refer to itself alone, and types made from it do not compile. */
const anyJson: Json = { description: 'any JSON value' }
/** What zod calls a recursive schema that has no id. */
const UNNAMED = /^__schema\d+$/

/** Collects schemas that have an id; everything on the wire is the input side of its codec. */
export function collectSchemas(): SchemaComponents {
  const components: Record<string, Json> = {}
  return {
    components,
    of(schema) {
      const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: 'input', override: tidySchema }) as Json
      for (const [name, definition] of Object.entries($defs as Record<string, Json>)) {
        addComponent(components, componentName(name), UNNAMED.test(name) ? anyJson : (relocate(definition) as Json)) // an object stays one
      }
      return relocate(rest) as Json // an object stays one
    },
  }
}

function addComponent(components: Record<string, Json>, name: string, component: Json): void {
  const known = components[name]
  if (known && JSON.stringify(known) !== JSON.stringify(component)) throw new Error(`two schemas are called ${name}`)
  components[name] = component
}

/** `z.json()` is the one recursive schema that has no name of its own; another would not equal the first. */
function componentName(name: string): string {
  return UNNAMED.test(name) ? ANY_JSON : name
}

/** zod names a format that no standard has. */
function tidySchema({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema.format === 'starts_with') delete jsonSchema.format
  delete jsonSchema.id
  spellOut(jsonSchema)
}

/** A record of known names becomes an object of them: linters and generators ask for each among its properties. */
function spellOut(jsonSchema: Json): void {
  const { enum: names } = (jsonSchema.propertyNames ?? {}) as { enum?: readonly string[] } // a schema of strings
  if (names === undefined) return
  jsonSchema.properties = Object.fromEntries(names.map((name) => [name, jsonSchema.additionalProperties]))
  jsonSchema.additionalProperties = false
  delete jsonSchema.propertyNames
}

const LOCAL = '#/$defs/'

function relocate(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relocate)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    name === '$ref' && typeof value === 'string' && value.startsWith(LOCAL)
      ? `#/components/schemas/${componentName(value.slice(LOCAL.length))}`
      : relocate(value),
  ])
  return Object.fromEntries(entries)
}
