import { parseAmount } from './money.ts'
import { isKeyOf } from './record.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts'

/* The filter grammar of lists, for the server, `--filter`, and `/` in the cockpit. */

export const MAX_FILTER_CHARS = 200
/** Largest number of rows that one response searches; the response says if the list is longer. */
export const MAX_SEARCHED_ROWS = 10_000
const MAX_TERMS = 20
const MAX_VALUES = 20

/** Field types. Filters also accept the displayed texts in `words` and `word`. */
export type ListField =
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly words?: Readonly<Record<string, string>> }
  | { readonly kind: 'flag'; readonly word?: string }
  | { readonly kind: 'text' | 'money' | 'count' | 'age' }

export type ListFields = Readonly<Record<string, ListField>>

/** A field's value: text, micro-USDC or a count (bigint), epoch milliseconds, or a boolean; null if none. */
export type RowFact = string | readonly string[] | bigint | number | boolean | null
export type Facts<L extends ListFields = ListFields> = { readonly [name in keyof L]: RowFact }

type Order = '=' | '<' | '<=' | '>' | '>='
type FilterParams = {
  readonly order: Order
  readonly value: string | bigint | number | boolean
  /** Exact match instead of substring. */
  readonly whole: boolean
  /** Field to compare instead of `Term.field`: one with a value that lists show as the typed word. */
  readonly field?: string
}

/** A term matches if any value matches or, when negated, if none does. */
export type Term = {
  /** The field to search. Undefined means any text field. */
  readonly field: string | undefined
  readonly not: boolean
  readonly wanted: readonly FilterParams[]
}

/** All terms must match. */
export type Filter = { readonly text: string; readonly terms: readonly Term[] }
type Parsed = { readonly ok: true; readonly filter: Filter } | { readonly ok: false; readonly problem: string }

/** Invalid filter. */
class Refused extends Error {}

/** Parses `status:disputed,failed amount:>1 age:<2h !acme "two words"`. @returns the filter, or its fault */
export function parseFilter(text: string, fields: ListFields): Parsed {
  try {
    if (text.length > MAX_FILTER_CHARS) throw new Refused(`must have at most ${MAX_FILTER_CHARS} characters`)
    const words = wordsOf(text)
    if (words.length > MAX_TERMS) throw new Refused(`must have at most ${MAX_TERMS} words`)
    return { ok: true, filter: { text, terms: words.map((word) => termOf(word, fields)) } }
  } catch (error) {
    if (error instanceof Refused) return { ok: false, problem: error.message }
    throw error
  }
}

const WORD = /(?:"[^"]*"|[^\s"])+/g
const FIELD = /^([a-z_]+):(.*)$/s
const COMPARED = /^(<=|>=|<|>|)(.*)$/s

function wordsOf(text: string): readonly string[] {
  if (text.split('"').length % 2 === 0) throw new Refused('has an unclosed quotation mark')
  return text.match(WORD) ?? []
}

const plain = (quoted: string) => quoted.replaceAll('"', '')

function termOf(word: string, fields: ListFields): Term {
  const not = word.startsWith('!')
  const rest = not ? word.slice(1) : word
  const [, typed, values = ''] = FIELD.exec(rest) ?? []
  if (typed === undefined) {
    const value = plain(rest).toLowerCase()
    if (value === '') throw new Refused('has a ! without a term after it')
    const shown = paramsShown(fields, (one) => one.includes(value))
    return { field: undefined, not, wanted: [{ order: '=', value, whole: false }, ...shown] }
  }
  const named = fieldNamed(typed, fields)
  if (named === undefined) {
    throw new Refused(`has no field ${typed}: use ${Object.keys(fields).join(', ')}; put text with a colon in quotes`)
  }
  const { name } = named
  const isContrary = values.startsWith('!')
  // Values are separated by commas outside quotes.
  const given = (isContrary ? values.slice(1) : values).match(/(?:"[^"]*"|[^,"])+/g)?.map(plain) ?? ['']
  if (given.length > MAX_VALUES) throw new Refused(`has more than ${MAX_VALUES} values of ${name}`)
  return { field: name, not: not !== isContrary, wanted: given.flatMap((value) => wantedOf(value, named, fields)) }
}

/** Lists call the state column `state` or `status`; a filter may use either name. */
const otherName: Readonly<Record<string, string>> = { state: 'status', status: 'state' }

function fieldNamed(typed: string, fields: ListFields): Named | undefined {
  const name = [typed, otherName[typed] ?? typed].find((one) => Object.hasOwn(fields, one))
  const field = name === undefined ? undefined : fields[name]
  return name === undefined || field === undefined ? undefined : { name, field }
}

/** The choices and flags whose displayed word satisfies `isMeant`. */
function paramsShown(fields: ListFields, isMeant: (word: string) => boolean): readonly FilterParams[] {
  return Object.entries(fields).flatMap(([field, one]): readonly FilterParams[] => {
    const param = { order: '=', whole: true, field } as const
    if (one.kind === 'flag') return one.word !== undefined && isMeant(one.word) ? [{ ...param, value: true }] : []
    if (one.kind !== 'choice') return []
    return one.choices.filter((value) => isMeant(one.words?.[value] ?? value)).map((value) => ({ ...param, value }))
  })
}

type Named = { readonly name: string; readonly field: ListField }

function wantedOf(text: string, { name, field }: Named, fields: ListFields): readonly FilterParams[] {
  const [, sign = '', value = ''] = COMPARED.exec(text) ?? []
  const order = isKeyOf(signs, sign) ? signs[sign] : '='
  if (value === '') throw new Refused(`has no value for ${name}: ${exampleOf(name, field)}`)
  const read = valueIn(value, field)
  const shown = read === undefined && sign === '' ? wantedShown(value, name, fields) : []
  if (shown.length > 0) return shown
  if (read === undefined) throw new Refused(`invalid ${name} "${value}": ${exampleOf(name, field)}`)
  const isOrdered = field.kind === 'money' || field.kind === 'count' || field.kind === 'age'
  if (order !== '=' && !isOrdered) throw new Refused(`cannot compare ${name}: ${exampleOf(name, field)}`)
  if (order === '=' && field.kind === 'age') throw new Refused(`age needs < or >: ${exampleOf(name, field)}`)
  return [{ order, value: read, whole: field.kind === 'choice' }]
}

/** The filters for a value that lists display as `text`. Flags are included, since the status column shows them. */
function wantedShown(text: string, name: string, fields: ListFields): readonly FilterParams[] {
  const word = text.toLowerCase().replaceAll(/[-_]/g, ' ')
  return paramsShown(fields, (one) => one === word)
    .filter(({ field, value }) => field === name || (value === true && otherName[name] !== undefined))
    .map(({ field, ...param }) => (field === undefined || field === name ? param : { ...param, field }))
}

const signs = { '': '=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const

export function exampleOf(name: string, field: ListField): string {
  if (field.kind === 'choice') return `use one of ${field.choices.join(', ')}`
  return {
    text: `like ${name}:word`,
    money: `like ${name}:>1.50`,
    count: `like ${name}:>10`,
    age: `like ${name}:>2h`,
    flag: 'use yes or no',
  }[field.kind]
}

function valueIn(text: string, field: ListField): FilterParams['value'] | undefined {
  if (field.kind === 'choice') return field.choices.includes(text) ? text : undefined
  if (field.kind === 'text') return text.toLowerCase()
  if (field.kind === 'money') return parseAmount(text.replace(/^\$/, ''))
  if (field.kind === 'count') return /^\d{1,12}$/.test(text) ? BigInt(text) : undefined
  if (field.kind === 'age') return spanOf(text)
  return isKeyOf(flags, text) ? flags[text] : undefined
}

const flags = { yes: true, no: false, true: true, false: false } as const
const UNIT_MS = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const

function spanOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return digits === undefined || !isKeyOf(UNIT_MS, unit) ? undefined : Number(digits) * UNIT_MS[unit]
}

/** Whether a row matches the filter. @param now time at which ages are measured, in epoch milliseconds */
export function passesFilter({ terms }: Filter, facts: Facts, now: number): boolean {
  return terms.every(({ field, not, wanted }) => {
    const isMet = (one: FilterParams) => {
      const name = one.field ?? field
      return name === undefined ? wordsHave(facts, String(one.value)) : holds(facts[name] ?? null, one, now)
    }
    return wanted.some(isMet) !== not
  })
}

function wordsHave(facts: Facts, word: string): boolean {
  return Object.values(facts).some((fact) => textsOf(fact).some((text) => text.toLowerCase().includes(word)))
}

function textsOf(fact: RowFact): readonly string[] {
  if (typeof fact === 'string') return [fact]
  return Array.isArray(fact) ? fact : []
}

function holds(fact: RowFact, { order, value, whole }: FilterParams, now: number): boolean {
  if (fact === null) return false
  if (typeof value === 'bigint')
    return typeof fact === 'bigint' && compares(fact < value ? -1 : Number(fact > value), order)
  if (typeof value === 'number') return typeof fact === 'number' && compares(now - fact - value, order)
  if (typeof value === 'boolean') return fact === value
  return textsOf(fact).some((text) => (whole ? text === value : text.toLowerCase().includes(value)))
}

function compares(difference: number, order: Order): boolean {
  if (order === '=') return difference === 0
  if (order === '<') return difference < 0
  if (order === '<=') return difference <= 0
  return order === '>' ? difference > 0 : difference >= 0
}

/** Named sort orders with their meaning. */
export type ListOrders = Readonly<Record<string, string>>

/** A field to sort by, with `-` for descending, or the name of an order. */
export type SortWord<L extends ListFields, O extends ListOrders = Record<never, string>> =
  | (keyof L & string)
  | `-${keyof L & string}`
  | (keyof O & string)

export function sortWords<L extends ListFields, const O extends ListOrders = Record<never, string>>(
  fields: L,
  orders?: O,
): readonly SortWord<L, O>[] {
  const names: readonly (keyof L & string)[] = Object.keys(fields)
  const named: readonly (keyof O & string)[] = Object.keys(orders ?? {})
  return [...names, ...names.map((name) => `-${name}` as const), ...named]
}

export function sortDescription(orders: ListOrders = {}): string {
  const named = Object.entries(orders).map(([name, meaning]) => `; ${name}: ${meaning}`)
  return `field, or -field for descending${named.join('')}`
}

/** Comparator for a sort word: A before Z, small before large, young before old, false before true, missing last. */
export function inOrder(fields: ListFields, word: string): (a: Facts, b: Facts) => number {
  const turn = word.startsWith('-') ? -1 : 1
  const name = word.replace(/^-/, '')
  const youth = fields[name]?.kind === 'age' ? -1 : 1
  return (a, b) => {
    const [x, y] = [firstOf(a[name]), firstOf(b[name])]
    if (x === null || y === null) return Number(x === null) - Number(y === null)
    return x === y ? 0 : turn * youth * (x < y ? -1 : 1)
  }
}

function firstOf(fact: RowFact | undefined): string | bigint | number | boolean | null {
  if (fact === undefined || fact === null) return null
  if (typeof fact === 'string') return fact.toLowerCase()
  if (typeof fact === 'object') return fact[0]?.toLowerCase() ?? null
  return fact
}
