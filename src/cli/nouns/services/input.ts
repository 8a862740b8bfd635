import { isObject, jsonOrText } from '../../../core/json.ts'
import { didYouMean } from '../../../text/text.ts'
import { DOCUMENT, readObjectFile } from '../../files/document.ts'
import * as z from '../../params.ts'
import { pairOf } from '../../split-words.ts'

type Schema = Readonly<Record<string, unknown>>

function propertiesOf(schema: Schema): readonly (readonly [name: string, schema: Schema, required: boolean])[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.entries(properties).map(
    ([name, one]) => [name, isObject(one) ? one : {}, required.includes(name)] as const,
  )
}

/** Describes an input, with one line per member, such as `data* text, at most 2000`. */
export function inputLines(schema: Schema): string[] {
  const rows = propertiesOf(schema).map(
    ([name, one, required]) => [`${name}${required ? '*' : ''}`, typeText(one)] as const,
  )
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`)
}

function typeText(schema: Schema): string {
  const choices = Array.isArray(schema.enum) ? schema.enum.map((value) => String(value)).join(' | ') : undefined
  const bounds = [
    range(schema.minimum, schema.maximum),
    range(undefined, schema.maxLength, ' characters'),
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
    typeof schema.description === 'string' ? schema.description : '',
  ].filter((part) => part !== '')
  return [choices ?? String(schema.type ?? 'any'), ...bounds].join(', ')
}

function range(low: unknown, high: unknown, unit = ''): string {
  if (low !== undefined && high !== undefined) return `${String(low)} to ${String(high)}${unit}`
  if (high !== undefined) return `at most ${String(high)}${unit}`
  return low === undefined ? '' : `at least ${String(low)}${unit}`
}

/** Names and summaries of the input members, required ones first. */
export function inputNames(
  schema: Schema,
): readonly { readonly name: string; readonly summary: string; readonly isNeeded: boolean }[] {
  const all = propertiesOf(schema).map(([name, one, isNeeded]) => ({ name, summary: typeText(one), isNeeded }))
  return all.toSorted((a, b) => Number(b.isNeeded) - Number(a.isNeeded))
}

export function inputChoices(schema: Schema, name: string): readonly string[] {
  const [, one = {}] = propertiesOf(schema).find(([known]) => known === name) ?? []
  if (one.type === 'boolean') return ['true', 'false']
  return Array.isArray(one.enum) ? one.enum.map(String) : []
}

/** A valid example: the required members, or the first member if none is required. */
export function exampleOf(schema: Schema): Record<string, unknown> {
  const all = propertiesOf(schema)
  const needed = all.filter(([, , required]) => required)
  return Object.fromEntries(
    (needed.length > 0 ? needed : all.slice(0, 1)).map(([name, one]) => [name, exampleValue(name, one)]),
  )
}

const namedExamples: Readonly<Record<string, string>> = {
  url: 'https://example.org',
  site_url: 'https://example.org',
  docs_url: 'https://example.org/docs',
  source_url: 'https://example.org/changelog',
  domain: 'example.org',
  symbol: 'ACME',
  target_lang: 'fr',
  coin_id: 'bitcoin',
  ecosystem: 'npm',
  opportunity_id: '350123',
}

function exampleValue(name: string, schema: Schema): unknown {
  const told = [Array.isArray(schema.examples) ? schema.examples[0] : undefined, schema.const, schema.default]
  const [given] = [...told, Array.isArray(schema.enum) ? schema.enum[0] : undefined].filter((one) => one !== undefined)
  return given ?? byType(name, schema)
}

function byType(name: string, schema: Schema): unknown {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return Number(schema.minimum ?? 1)
    case 'boolean':
      return false
    case 'array':
      return [exampleValue(name, isObject(schema.items) ? schema.items : {})]
    case 'object':
      return name === 'dependencies' ? { example: '1.0.0' } : {}
    default:
      return namedExamples[name] ?? 'hello'
  }
}

export type ReadInput = {
  readonly input: Readonly<Record<string, unknown>>
  /** Typed names that the schema does not have, probably typos. */
  readonly unknown: readonly string[]
}

/** Parses words of `-i name=value`, with the types from the schema. @throws CliError usage for a word without `=` */
export function inputFrom(schema: Schema, words: readonly string[]): ReadInput {
  const known = new Map(propertiesOf(schema).map(([name, one]) => [name, one]))
  const input: Record<string, unknown> = {}
  const unknown: string[] = []
  for (const word of words) {
    const [name, text] = pairOf(word, `"${word}" must be name=value.`, { facts: inputLines(schema) })
    const one = known.get(name)
    if (one === undefined && known.size > 0 && !schema.additionalProperties) unknown.push(name)
    const value = typedBy(one ?? {}, text)
    const before = input[name]
    input[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
  }
  return { input, unknown }
}

/** Unknown names, with suggestions: `maxSecs (did you mean maxSeconds?)` */
export function unknownNames(schema: Schema, names: readonly string[]): readonly string[] {
  const known = propertiesOf(schema).map(([name]) => name)
  return names.map((name) => name + didYouMean(name, known))
}

/** Converts text to the type in the schema. If that is impossible, the text stays, and the instance refuses it. */
function typedBy(schema: Schema, text: string): unknown {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (types.includes('string') || (types[0] === undefined && !/^[[{]/.test(text))) return text
  const value = jsonOrText(text)
  if (types.includes('array') && !Array.isArray(value))
    return [typedBy(isObject(schema.items) ? schema.items : {}, text)]
  return value
}

type Typed = { readonly input: readonly string[]; readonly inputFile?: string | undefined }
type Stdin = { stdin(): Promise<string> }

export const inputOptions = {
  input: z.array(z.string()).default([]).meta({ short: 'i', description: 'an input field', value: 'name=value' }),
  inputFile: z
    .string()
    .optional()
    .meta({ description: `input: ${DOCUMENT}, - for stdin`, value: 'file' }),
}

/** Merges the input from the file and the command line, which takes precedence. @throws CliError `usage` */
export async function readInput(io: Stdin, schema: Schema, { input: words, inputFile }: Typed): Promise<ReadInput> {
  const document = inputFile === undefined ? {} : await readObjectFile(io, inputFile, 'the input')
  const { input, unknown } = inputFrom(schema, words)
  return { input: { ...document, ...input }, unknown }
}
