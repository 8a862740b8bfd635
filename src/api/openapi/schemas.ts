import { z } from 'zod'
import { isObject } from '../../core/json.ts'
import { type Api, api } from '../index.ts'

export type OpenApiNode = Record<string, unknown>

/** Schemas of the description: those with an id become components. */
export type SchemaComponents = {
  readonly components: Record<string, OpenApiNode>
  readonly of: (schema: z.ZodType) => OpenApiNode
}

/** Component name of `z.json()`. */
const ANY_JSON = 'JsonValue'
/** Any JSON value. A full schema would only refer to itself, which code generators reject. */
const anyJson: OpenApiNode = { description: 'any JSON value' }
/** zod's name of an anonymous recursive schema. */
const UNNAMED = /^__schema\d+$/

/** Collects the schemas that have an id. A codec is described by its input, the form on the wire. */
export function collectSchemas(): SchemaComponents {
  const components: Record<string, OpenApiNode> = {}
  return {
    components,
    of(schema) {
      const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: 'input', override: tidySchema })
      for (const [name, definition] of Object.entries($defs)) {
        addComponent(components, componentName(name), UNNAMED.test(name) ? anyJson : relocated(definition))
      }
      return relocated(rest)
    },
  }
}

function addComponent(components: Record<string, OpenApiNode>, name: string, component: OpenApiNode): void {
  const known = components[name]
  if (known && JSON.stringify(known) !== JSON.stringify(component)) throw new Error(`duplicate schema name ${name}`)
  components[name] = component
}

/** Name of a component. The only anonymous recursive schema is `z.json()`. */
function componentName(name: string): string {
  return UNNAMED.test(name) ? ANY_JSON : name
}

/** Removes zod's id and nonstandard format, and expands records of known names. */
export function tidySchema({ jsonSchema }: { jsonSchema: OpenApiNode }): void {
  if (jsonSchema.format === 'starts_with') delete jsonSchema.format
  delete jsonSchema.id
  spellOut(jsonSchema)
}

/** Expands a record of known names to an object, for linters and generators. */
function spellOut(jsonSchema: OpenApiNode): void {
  const { propertyNames } = jsonSchema
  if (!isObject(propertyNames) || !Array.isArray(propertyNames.enum)) return
  jsonSchema.properties = Object.fromEntries(propertyNames.enum.map((name) => [name, jsonSchema.additionalProperties]))
  jsonSchema.additionalProperties = false
  delete jsonSchema.propertyNames
}

const LOCAL = '#/$defs/'

function relocate(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relocate)
  return isObject(node) ? relocated(node) : node
}

function relocated(node: object): OpenApiNode {
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    name === '$ref' && typeof value === 'string' && value.startsWith(LOCAL)
      ? `#/components/schemas/${componentName(value.slice(LOCAL.length))}`
      : relocate(value),
  ])
  return Object.fromEntries(entries)
}

/** Response schemas by endpoint, and the schemas in `$defs` that they share. */
export function answerSchemas(names: readonly (keyof Api)[]) {
  const { components, of } = collectSchemas()
  const answers = names.flatMap((name): [string, OpenApiNode][] => {
    const { reply } = api[name]
    return 'schema' in reply ? [[name, of(reply.schema)]] : []
  })
  return { answers: inPlace(Object.fromEntries(answers)), $defs: inPlace(components) }
}

/** Changes all references so that they point to `$defs`, where the printed schemas are. */
function inPlace<T extends object>(schemas: T): T {
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/components/schemas/', '"#/$defs/')) as T
}
