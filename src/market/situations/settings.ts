import { type IdNoun, idPrefixes } from '../../core/id-prefixes.ts'
import { type Json, jsonOrText } from '../../core/json.ts'
import { isKeyOf } from '../../core/record.ts'
import { disputeCategories } from '../../model/job.ts'
import { microOf } from '../../text/columns.ts'
import { clip, nearest } from '../../text/text.ts'

const TEXT_CHARS_MAX = 1_000
const NAME_CHARS_MAX = 100
const SETTINGS_MAX = 50
/** Highest price or amount that can be set. A new user has only 60 dollars. */
const PRICE_MAX_MICRO = 40_000_000n
const RATING_MAX = 5
const GIVEN_CHARS_MAX = 60
const INPUT = 'input.'

const text = (most: number) => ({
  must: `must be 1 to ${most} characters long`,
  read: (given: string) => (given.trim() === '' || given.length > most ? undefined : given),
})
const oneOf = <const T extends string>(words: readonly T[]) => ({
  must: `must be one of ${words.join(', ')}`,
  read: (given: string) => words.find((word) => word === given),
})
const money = {
  must: 'must be an amount such as 1.50, from 0.01 to 40.00',
  read(given: string) {
    const micro = microOf(given)
    return micro === undefined || micro < 10_000n || micro > PRICE_MAX_MICRO ? undefined : given.replace('$', '')
  },
}
const rating = {
  must: `must be a whole number from 1 to ${RATING_MAX}`,
  read: (given: string) => (/^[1-5]$/.test(given) ? Number(given) : undefined),
}

const settingTable = {
  price: { means: 'price', ...money },
  amount: { means: 'amount', ...money },
  name: { means: 'name of the user, service, plan or product', ...text(NAME_CHARS_MAX) },
  title: { means: 'title of the request', ...text(NAME_CHARS_MAX) },
  role: { means: 'account type', ...oneOf(['agent', 'provider', 'both']) },
  text: { means: 'text', ...text(TEXT_CHARS_MAX) },
  reason: { means: 'why', ...text(TEXT_CHARS_MAX) },
  category: { means: 'kind of problem', ...oneOf(disputeCategories) },
  rating: { means: 'rating of the delivery', ...rating },
  comment: { means: 'comment on the rating', ...text(TEXT_CHARS_MAX) },
} as const

type Table = typeof settingTable
export type SettingName = keyof Table | 'input'

/** Values of `--set`. */
export type EventSettings = {
  readonly [K in keyof Table]?: Exclude<ReturnType<Table[K]['read']>, undefined>
} & { readonly input?: { readonly [member: string]: Json } }

/** Settings of a situation. */
export type Sayable = {
  readonly sets?: readonly SettingName[]
  /** Kinds of objects that the situation can use. */
  readonly about?: readonly IdNoun[]
}

/** A wrong `--set` or `--for`. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting'
  readonly facts: readonly string[]
  constructor(message: string, facts: readonly string[] = []) {
    super(message)
    this.facts = facts
  }
}

export function settingLine(name: SettingName): string {
  return name === 'input'
    ? 'input.NAME: input field of the order'
    : `${name}: ${settingTable[name].means}; ${settingTable[name].must}`
}

/** @throws BadSetting for too many settings, a setting that the event does not accept, or an invalid value */
export function parseSettings(type: string, { sets = [] }: Sayable, pairs: readonly string[]): EventSettings {
  if (pairs.length > SETTINGS_MAX) throw new BadSetting(`--set may be given at most ${SETTINGS_MAX} times.`)
  const told: Record<string, unknown> = {}
  const input: Record<string, unknown> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at)
    if (at < 1) throw new BadSetting(`--set must be name=value; you gave "${clip(pair, GIVEN_CHARS_MAX)}".`)
    if (name.startsWith(INPUT) && sets.includes('input')) {
      const [member, value] = inputOf(name, pair.slice(at + 1))
      Object.defineProperty(input, member, { value, enumerable: true, configurable: true })
    } else told[name] = readOne(type, sets, { name, given: pair.slice(at + 1) })
  }
  // The cast is safe, because each value was parsed by the parser for its name.
  return { ...told, ...(Object.keys(input).length > 0 ? { input } : {}) } as EventSettings
}

function inputOf(name: string, given: string): readonly [string, Json] {
  const member = name.slice(INPUT.length)
  if (member === '') throw new BadSetting('--set input. needs the name of an input field, such as input.text=hello.')
  return [member, jsonOrText(given) as Json] // parsed JSON or text
}

type Given = { readonly name: string; readonly given: string }

function readOne(type: string, sets: readonly SettingName[], { name, given }: Given): unknown {
  if (!isKeyOf(settingTable, name) || !sets.includes(name)) {
    const near = nearest(name, [...sets])
    const meant = near === undefined ? '' : ` (did you mean ${near === 'input' ? 'input.NAME' : near}?)`
    const facts = sets.length === 0 ? [`${type} has no settings`] : sets.map(settingLine)
    throw new BadSetting(`${type} has no setting ${clip(name, GIVEN_CHARS_MAX)}${meant}.`, facts)
  }
  const value = settingTable[name].read(given)
  if (value !== undefined) return value
  throw new BadSetting(`--set ${name} ${settingTable[name].must}; you gave "${clip(given, GIVEN_CHARS_MAX)}".`)
}

/** @throws BadSetting for an id that the event cannot use */
export function subjectOf(type: string, { about = [] }: Sayable, id: string | undefined): string | undefined {
  if (id === undefined) return undefined
  const forms = about.map((noun) => `${idPrefixes[noun]}…`).join(' or ')
  if (forms === '') throw new BadSetting(`${type} takes no --for: it always uses new objects.`)
  if (about.some((noun) => new RegExp(`^${idPrefixes[noun]}[0-9a-f]{16}$`).test(id))) return id
  throw new BadSetting(
    `--for must be a complete id of ${about.join(' or ')} (${forms}) for ${type}; you gave "${clip(id, GIVEN_CHARS_MAX)}".`,
  )
}
