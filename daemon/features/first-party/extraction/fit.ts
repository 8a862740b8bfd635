import { type AnyObject, isObject, type Json } from '../../../../src/core/json.ts'
import { type Fact, factSources } from './cards.ts'
import { type Coerced, coerced, typeOf } from './coerce.ts'
import type { FoundFacts, PageTable } from './page-facts.ts'

/** A value found for a member of the schema. */
export type FilledField = {
  readonly path: string
  readonly source: string
  readonly confidence: number
  readonly verified?: boolean
}
export type Fitted = { readonly value: Json | undefined; readonly fields: readonly FilledField[] }

/** Matches below this confidence are guesses, which are left out. */
const MIN_CONFIDENCE = 0.4
const MAX_ITEMS = 100
const MAX_DEPTH = 8
const TABLE_SHARE = 0.5

/** Groups of names that mean the same. */
const synonyms: readonly (readonly string[])[] = [
  ['title', 'name', 'headline', 'heading', 'ogtitle', 'productname', 'product'],
  ['description', 'summary', 'abstract', 'ogdescription'],
  ['price', 'amount', 'cost', 'lowprice', 'productprice', 'priceamount', 'productpriceamount', 'ogpriceamount'],
  ['currency', 'pricecurrency'],
  ['image', 'picture', 'photo', 'ogimage', 'thumbnail', 'thumbnailurl', 'imageurl'],
  ['author', 'creator', 'by', 'writer', 'articleauthor'],
  [
    'date',
    'published',
    'datepublished',
    'publishedat',
    'publicationdate',
    'publisheddate',
    'articlepublishedtime',
    'startdate',
    'when',
  ],
  ['updated', 'datemodified', 'modified', 'updatedat', 'lastupdated', 'articlemodifiedtime'],
  ['rating', 'ratingvalue', 'stars', 'score', 'aggregaterating', 'reviewrating'],
  ['reviews', 'reviewcount', 'ratingcount', 'numberofreviews'],
  ['instock', 'availability', 'available', 'stock'],
  ['brand', 'manufacturer', 'maker', 'vendor'],
  ['sku', 'productid', 'itemnumber', 'mpn', 'articlenumber', 'partnumber'],
  ['phone', 'telephone', 'tel', 'phonenumber'],
  ['email', 'mail', 'emailaddress'],
  ['url', 'link', 'canonical', 'ogurl'],
  ['category', 'genre', 'section', 'articlesection'],
  ['site', 'sitename', 'ogsitename', 'publisher'],
  ['location', 'place', 'venue', 'address', 'where'],
  ['color', 'colour'],
]

export function plainName(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase()
}

type Fitting = {
  readonly page: FoundFacts
  readonly named: readonly Named[]
  readonly base: string
  readonly fields: FilledField[]
}

/** Fills a schema from a page's facts; members without a value are left out. */
export function filled(schema: AnyObject, page: FoundFacts, base: string): Fitted {
  const fitting: Fitting = { page, named: namedOf(page.facts), base, fields: [] }
  const value = fitMember(fitting, { schema, path: [] })
  return { value, fields: fitting.fields }
}

type Member = { readonly schema: AnyObject; readonly path: readonly string[] }

function fitMember(fitting: Fitting, member: Member): Json | undefined {
  const { schema, path } = member
  if (path.length > MAX_DEPTH) return undefined
  const type = typeOf(schema)
  if (type === 'object') return fitObject(fitting, member)
  if (type === 'array') return fitArray(fitting, member)
  return path.length === 0 ? undefined : fitScalar(fitting, member)
}

function fitObject(fitting: Fitting, { schema, path }: Member): Json | undefined {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const made = Object.entries(properties).flatMap(([name, inner]) => {
    const value = isObject(inner) ? fitMember(fitting, { schema: inner, path: [...path, name] }) : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return made.length === 0 && path.length > 0 ? undefined : Object.fromEntries(made)
}

function fitScalar(fitting: Fitting, { schema, path }: Member): Json | undefined {
  for (const { fact, confidence } of likely(fitting.named, path)) {
    const value = coerced(fact.value, schema, fitting.base)
    if (value === undefined) continue
    fitting.fields.push({ path: path.join('.'), source: sourceOf(fact), confidence })
    return value.json
  }
  return undefined
}

function sourceOf({ source, path }: Fact): string {
  return `${source}: ${path.join('.').slice(0, 100)}`
}

type Named = { readonly fact: Fact; readonly names: readonly string[] }
type Candidate = { readonly fact: Fact; readonly confidence: number }

function namedOf(facts: readonly Fact[]): Named[] {
  // Text in brackets after a label is not part of the name: `Population (2022)`.
  return facts.map((fact) => ({
    fact,
    names: fact.path.map((name) => plainName(name.replace(/(?<=\S)\s*\([^)]*\)/g, ''))),
  }))
}

const UNIT = /^(.{2,})_(km2|m2|km|cm|mm|m|kg|g|lb|ft|mb|gb|tb|percent|pct|days|hours|minutes|seconds)$/i

/** Facts that match a name. Without a match, `elevation_m` also matches `elevation` if the value is in metres. */
function likely(named: readonly Named[], path: readonly string[]): Candidate[] {
  const found = candidates(named, path)
  const [, plain, unit = ''] = UNIT.exec(path.at(-1) ?? '') ?? []
  if (found.length > 0 || plain === undefined) return found
  const sign = unit.replace('2', '[2²]').replace(/percent|pct/i, '(?:%|percent)')
  const measured = new RegExp(`\\d\\s*${sign}(?![\\p{L}\\d])`, 'iu')
  return candidates(named, [...path.slice(0, -1), plain]).filter(({ fact }) => measured.test(String(fact.value)))
}

/** Facts that match a name: best match first, then in page order. */
function candidates(facts: readonly Named[], path: readonly string[]): Candidate[] {
  const wanted = path.map(plainName)
  return facts
    .map(({ fact, names }) => ({ fact, confidence: rounded(factSources[fact.source] * likeness(names, wanted)) }))
    .filter(({ confidence }) => confidence >= MIN_CONFIDENCE)
    .sort((one, other) => other.confidence - one.confidence)
}

/** Members that stand for their parent: `brand.name` is the brand. */
const ofItself = new Set(['name', 'value', 'url'])
const STEP = 0.02
/** Scores by kind of name match, with and without a matching parent. */
const agreement = {
  same: [0.95, 0.55],
  holder: [0.92, 0.45],
  synonym: [0.85, 0.5],
  holderSynonym: [0.8, 0.45],
  ending: [0.7, 0],
} as const

/** Name similarity from 0 to 1. */
function likeness(name: readonly string[], wanted: readonly string[]): number {
  if (name.length === wanted.length && name.every((part, at) => part === wanted[at])) return 1
  const how = agreementOf(name, wanted.at(-1) ?? '')
  if (how === undefined) return 0
  const parent = wanted.at(-2)
  const isWithin = parent === undefined || name.slice(0, -1).some((part) => isSame(part, parent))
  return agreement[how][isWithin ? 0 : 1] - Math.max(0, name.length - wanted.length) * STEP
}

/** Names with the same ending match only if their lengths differ by at most this many letters. */
const MAX_MORE = 12

function agreementOf(name: readonly string[], target: string): keyof typeof agreement | undefined {
  const last = name.at(-1) ?? ''
  const holder = name.length > 1 && ofItself.has(last) ? name.at(-2) : undefined
  if (last === target) return 'same'
  if (holder === target) return 'holder'
  if (isSame(last, target)) return 'synonym'
  if (holder !== undefined && isSame(holder, target)) return 'holderSynonym'
  const isShort = Math.abs(last.length - target.length) <= MAX_MORE
  return isShort && last.length > 3 && target.length > 3 && (last.endsWith(target) || target.endsWith(last))
    ? 'ending'
    : undefined
}

const groupOf: ReadonlyMap<string, number> = new Map(
  synonyms.flatMap((names, at) => names.map((name) => [name, at] as const)),
)

function isSame(one: string, other: string): boolean {
  if (one === other) return true
  const group = groupOf.get(one)
  return group !== undefined && group === groupOf.get(other)
}

function fitArray(fitting: Fitting, member: Member): Json | undefined {
  const items = member.schema['items']
  if (!isObject(items)) return undefined
  const made =
    typeOf(items) === 'object' ? listOfObjects(fitting, items, member.path) : listOfScalars(fitting, items, member.path)
  return made.length === 0 ? undefined : made.slice(0, MAX_ITEMS)
}

function listOfScalars(fitting: Fitting, items: AnyObject, path: readonly string[]): Json[] {
  const found = valuesOf(fitting.named, { items, path, base: fitting.base })
  if (!found) return []
  const { best, values } = found
  fitting.fields.push({ path: path.join('.'), source: sourceOf(best.fact), confidence: best.confidence })
  return values
}

type Wanted = { readonly items: AnyObject; readonly path: readonly string[]; readonly base: string }

/** Distinct values of the best-matching name; undefined if there are none. */
function valuesOf(
  named: readonly Named[],
  { items, path, base }: Wanted,
): { best: Candidate; values: Json[] } | undefined {
  const one = candidates(named, singular(path))
  // If no fact has the singular name, the plural name counts, such as the heading `features` above a list.
  const found = one.length > 0 ? one : candidates(named, path)
  const [best] = found
  if (!best) return undefined
  const alike = found.filter(
    ({ fact }) => fact.source === best.fact.source && fact.path.join() === best.fact.path.join(),
  )
  const values = alike.flatMap(({ fact }) => {
    const parts = typeof fact.value === 'string' && alike.length === 1 ? fact.value.split(/\s*[,;]\s+/) : [fact.value]
    return parts.flatMap((part) => coerced(part, items, base) ?? [])
  })
  const distinct = [...new Map(values.map(({ json }) => [JSON.stringify(json), json])).values()]
  // The title of the page is no list of headings or products.
  const isTitle = distinct.length === 1 && isSame(plainName(singular(path).at(-1) ?? ''), 'title')
  return distinct.length === 0 || isTitle ? undefined : { best, values: distinct }
}

/** Singular form of a name: `images` also matches `image`. */
function singular(path: readonly string[]): string[] {
  const last = path.at(-1) ?? ''
  return [...path.slice(0, -1), last.replace(/ies$/, 'y').replace(/(?<=\w{3})s$/, '')]
}

const LINKED_CONFIDENCE = 0.85

function listOfObjects(fitting: Fitting, items: AnyObject, path: readonly string[]): Json[] {
  const names = Object.keys(isObject(items['properties']) ? items['properties'] : {})
  const table = bestTable(fitting.page.tables, names)
  const found = table
    ? {
        made: rowsAs(table, items, fitting.base),
        source: `table: ${table.header.join(' | ').slice(0, 100)}`,
        confidence: factSources.table,
      }
    : { made: thingsAs(fitting, items, path), source: 'json-ld', confidence: LINKED_CONFIDENCE }
  const { made, source, confidence } =
    found.made.length > 0
      ? found
      : { made: cardsAs(fitting, items, path), source: 'class', confidence: factSources.class }
  if (made.length > 0) fitting.fields.push({ path: path.join('.'), source, confidence })
  return made
}

function columnsOf({ header }: PageTable, names: readonly string[]): Map<string, number> {
  const plain = header.map(plainName)
  const found = names.flatMap((name) => {
    const target = plainName(name)
    const exact = plain.indexOf(target)
    const at = exact >= 0 ? exact : plain.findIndex((title) => isSame(title, target) || title.startsWith(target))
    return at < 0 ? [] : [[name, at] as const]
  })
  return new Map(found)
}

/** The table whose columns match the most wanted names; undefined if none matches half of them. */
function bestTable(tables: readonly PageTable[], names: readonly string[]): PageTable | undefined {
  const ranked = tables
    .map((table) => ({ table, columns: columnsOf(table, names).size }))
    .filter(({ columns }) => columns > 0 && columns >= names.length * TABLE_SHARE)
    .sort((one, other) => other.columns - one.columns)
  return ranked[0]?.table
}

function rowsAs(table: PageTable, items: AnyObject, base: string): Json[] {
  const properties = isObject(items['properties']) ? items['properties'] : {}
  const columns = columnsOf(table, Object.keys(properties))
  return table.rows.flatMap((row) => {
    const cells = [...columns].map(([name, at]) => [name, cellAs(row[at], properties[name], base)] as const)
    return objectOf(cells)
  })
}

function cellAs(cell: string | undefined, schema: unknown, base: string): Coerced | undefined {
  return cell === undefined || !isObject(schema) ? undefined : coerced(cell, schema, base)
}

function objectOf(cells: readonly (readonly [string, Coerced | undefined])[]): Json[] {
  const made = cells.flatMap(([name, value]) => (value === undefined ? [] : [[name, value.json] as const]))
  return made.length === 0 ? [] : [Object.fromEntries(made)]
}

/** Objects with the wanted name, from the page's machine-readable data. */
function thingsAs({ page, base }: Fitting, items: AnyObject, path: readonly string[]): Json[] {
  const properties = isObject(items['properties']) ? items['properties'] : {}
  const targets = [
    ...new Set([...path.slice(-1), ...singular(path).slice(-1), 'itemListElement', 'item'].map(plainName)),
  ]
  const named = page.things.filter(({ path: own }) =>
    targets.some((target) => isSame(plainName(own.at(-1) ?? ''), target)),
  )
  return named.flatMap(({ value }) => objectFrom(membersOf(value, []), properties, base))
}

function objectFrom(facts: readonly Fact[], properties: AnyObject, base: string): Json[] {
  const named = namedOf(facts)
  const cells = Object.entries(properties).map(([name, schema]) => {
    if (!isObject(schema)) return [name, undefined] as const
    if (typeOf(schema) === 'array')
      return [name, scalarsOf(named, { items: schema['items'], path: [name], base })] as const
    const isAddress = ['url', 'image'].some((kind) => isSame(plainName(name), kind))
    const whole = isAddress && schema['format'] === undefined ? { ...schema, format: 'uri' } : schema
    const [best] = likely(named, [name]).flatMap(({ fact }) => coerced(fact.value, whole, base) ?? [])
    return [name, best] as const
  })
  return objectOf(cells)
}

/** Values of one name within an object, such as its tags; undefined if the schema wants objects or lists. */
function scalarsOf(named: readonly Named[], { items, path, base }: Omit<Wanted, 'items'> & { items: unknown }) {
  if (!isObject(items) || typeOf(items) === 'object' || typeOf(items) === 'array') return undefined
  const found = valuesOf(named, { items, base, path })
  return found && { json: found.values }
}

/**
 * The best list of cards: first by whether its classes or ids contain the name, then by its filled members. On average,
 * a card must fill at least half of the members, and at least two.
 */
function cardsAs({ page, base }: Fitting, items: AnyObject, path: readonly string[]): Json[] {
  const properties = isObject(items['properties']) ? items['properties'] : {}
  const wanted = Object.keys(properties).length
  const [name = ''] = singular(path).slice(-1).map(plainName)
  const ranked = page.cards
    .map(({ names, cards }) => {
      const made = cards.flatMap((card) => objectFrom(card, properties, base))
      const isNamed = names.some((one) => plainName(one).includes(name))
      return { made, isNamed, cells: made.reduce((sum: number, one) => sum + Object.keys(one as object).length, 0) }
    })
    .filter(({ made, cells, isNamed }) => {
      // A heading alone is the title of a section, not an item of a list.
      const least = Math.max(isNamed ? Math.min(2, wanted) : 2, wanted * TABLE_SHARE)
      return made.length > 1 && cells >= made.length * least
    })
    .sort((one, other) => Number(other.isNamed) - Number(one.isNamed) || other.cells - one.cells)
  return ranked[0]?.made ?? []
}

const MAX_THING_DEPTH = 3

function membersOf(value: Readonly<Record<string, unknown>>, path: readonly string[]): Fact[] {
  if (path.length > MAX_THING_DEPTH) return []
  return Object.entries(value).flatMap(([name, inner]): Fact[] => {
    if (name.startsWith('@')) return []
    if (isObject(inner) && !Array.isArray(inner)) return membersOf(inner, [...path, name])
    const isScalar = typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean'
    return isScalar ? [{ path: [...path, name], value: inner, source: 'json-ld' }] : []
  })
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
