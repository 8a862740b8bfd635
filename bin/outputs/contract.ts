// The answers of the contract as JSON Schemas, found again by the form that their types have in TypeScript.
import { z } from 'zod'
import { api } from '../../src/api/index.ts'
import { isObject } from '../../src/core/json.ts'
import { keysOf } from '../../src/core/record.ts'
import type { JsonNode } from './types.ts'

/** A form with fewer members says too little to be told from another of the same look. */
const LEAST_MEMBERS = 3

export type Contract = {
  /** Shapes that several answers share, by name. */
  readonly definitions: Readonly<Record<string, JsonNode>>
  /** A schema made of types, with what the contract declares said in its words. */
  precise(node: JsonNode): JsonNode
}

/** @param formOf what the type of an endpoint's answer looks like; undefined for one that is no JSON. */
export function contractOf(formOf: (endpoint: string) => JsonNode | undefined): Contract {
  const definitions: Record<string, JsonNode> = {}
  const known = new Map<string, JsonNode | null>()
  for (const name of keysOf(api)) {
    const form = formOf(name)
    const { reply } = api[name]
    if (form === undefined || !('schema' in reply)) continue
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(reply.schema, { io: 'input' }) as JsonNode
    Object.assign(definitions, $defs)
    pair({ form, declared: rest }, { definitions, known })
  }
  return { definitions, precise: (node) => precise(node, known) }
}

type Pair = { readonly form: JsonNode; readonly declared: JsonNode }
type Known = { readonly definitions: Readonly<Record<string, JsonNode>>; readonly known: Map<string, JsonNode | null> }

/** Notes what each object of an answer looks like as a type, and what the contract says of it. */
function pair({ form, declared }: Pair, base: Known): void {
  const whole = wholeOf(declared, base)
  const [some, one] = [without(form, 'null'), without(whole, 'null')]
  if (some !== form && one !== whole) {
    pair({ form: some, declared: one }, base)
    return
  }
  if (isObject(form.properties) && isObject(whole.properties)) {
    note(form, whole === declared ? whole : { $ref: declared.$ref }, base)
    pairMembers({ form: form.properties, declared: whole.properties }, base)
  }
  const { items, additionalProperties } = whole
  const { items: someItems, additionalProperties: someMore } = form
  pairMembers({ form: { items: someItems, someMore }, declared: { items, someMore: additionalProperties } }, base)
}

function wholeOf(declared: JsonNode, { definitions }: Known): JsonNode {
  const named = typeof declared.$ref === 'string' ? definitions[declared.$ref.replace('#/$defs/', '')] : undefined
  return named ?? declared
}

function pairMembers({ form, declared }: Pair, base: Known): void {
  for (const [name, member] of Object.entries(form)) {
    const said = declared[name]
    if (isObject(member) && isObject(said)) pair({ form: member, declared: said }, base)
  }
}

/** What remains of `X | null`. */
function without(node: JsonNode, type: string): JsonNode {
  const parts = Array.isArray(node.anyOf) ? node.anyOf.filter((one) => isObject(one) && one.type !== type) : []
  const [only] = parts
  return parts.length === 1 && isObject(only) ? only : node
}

function note(form: JsonNode, schema: JsonNode, { known }: Known): void {
  if (Object.keys(form.properties ?? {}).length < LEAST_MEMBERS) return
  const key = canonical(form)
  const before = known.get(key)
  // Two that look the same and are not: neither is meant.
  known.set(key, before === undefined || JSON.stringify(before) === JSON.stringify(schema) ? schema : null)
}

/** Whatever order and words: the same form is the same text. */
function canonical(node: unknown): string {
  if (Array.isArray(node)) return `[${node.map(canonical).toSorted().join(',')}]`
  if (!isObject(node)) return JSON.stringify(node)
  const members = Object.entries(node).filter(([name, value]) => name !== 'description' || typeof value !== 'string')
  return `{${members
    .map(([name, value]) => `${name}:${canonical(value)}`)
    .toSorted()
    .join(',')}}`
}

function precise(node: JsonNode, known: Known['known']): JsonNode {
  const found = known.get(canonical(node))
  if (found !== undefined && found !== null) return described(found, node.description)
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, inner(name, value, known)]))
}

function described(node: JsonNode, description: unknown): JsonNode {
  return description === undefined ? node : { ...node, description }
}

function inner(keyword: string, value: unknown, known: Known['known']): unknown {
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? precise(one, known) : one))
  if (!isObject(value)) return value
  if (keyword !== 'properties') return precise(value, known)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isObject(one) ? timed(name, precise(one, known)) : one]),
  )
}

/** What ends in `_at` is a time in every answer. */
function timed(name: string, node: JsonNode): JsonNode {
  const isText = node.type === 'string' && node.pattern === undefined
  return isText && /(^|_)at$/.test(name) ? { ...node, format: 'date-time' } : node
}
