import { isId } from '../../client/wire-id.ts'
import { AppError } from '../../core/error.ts'
import { isAddress } from '../../core/hex.ts'
import { harmless, nearest } from '../../text/text.ts'
import { CliError, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { type Asker, type Kind, kindOfArgument, kindOfOption, kinds, type Nameable } from './kinds.ts'

/** Maximum number of candidates shown for an ambiguous name. */
const TOLD_MAX = 5
/** Time limit for finding a "did you mean" suggestion. */
const MEANT_MS = 2_000

type Namer = Asker & {
  readonly io: Io
  /** The object will be bought: objects of other owners are preferred to the caller's own ones. */
  readonly buys?: boolean
}
type Words = Readonly<Record<string, unknown>>

/** Replaces names by ids. @throws CliError not_found for an unknown name, usage for an ambiguous one */
export async function resolveWords(namer: Namer, words: { args: Words; options: Words }) {
  const args = await resolveAll(namer, words.args, kindOfArgument)
  const options = await resolveAll(namer, words.options, kindOfOption)
  return { args, options }
}

async function resolveAll(namer: Namer, words: Words, kindOf: (key: string) => Kind | undefined): Promise<Words> {
  const found: Record<string, unknown> = { ...words }
  for (const [key, value] of Object.entries(words)) {
    const kind = kindOf(key)
    if (kind === undefined) continue
    if (typeof value === 'string') found[key] = await idOf(namer, kind, value)
    if (Array.isArray(value)) found[key] = await eachOf(namer, kind, value)
  }
  return found
}

async function eachOf(namer: Namer, kind: Kind, values: readonly unknown[]): Promise<readonly unknown[]> {
  const ids: unknown[] = []
  for (const value of values) ids.push(typeof value === 'string' ? await idOf(namer, kind, value) : value)
  return ids
}

/** The id of the object that a word names. @throws CliError `not_found`, `usage` */
export async function idOf(namer: Namer, kind: Kind, word: string): Promise<string> {
  if (!kind.isNamed || kind.isId(word)) return word
  if (isBroken(kind, word)) {
    if (kind !== kinds.wallet) return word
    throw usage(`${word} is not a wallet: give 0x and 40 hex digits, a participant, or a wallet name.`)
  }
  const isPerson = kind === kinds.participant || kind === kinds.wallet
  const id = isPerson ? await personOf(namer, kind, word) : await idByName(namer, kind, word)
  // Participants choose their own names, so show which id the name stands for.
  if (isPerson && namer.io.settings.format === 'human') namer.io.say(`${word} is ${id}`)
  return id
}

/** Whether a word is meant as an id or address, but is not a valid one. */
function isBroken({ prefix }: Kind, word: string): boolean {
  return word === '' || (prefix !== '' && word.startsWith(prefix)) || (word.startsWith('0x') && !isAddress(word))
}

/** The id of a wallet or participant. A local wallet's name takes precedence over a participant's. */
async function personOf(namer: Namer, kind: Kind, word: string): Promise<string> {
  const { getWallet, walletNames } = await import('../../client/wallets.ts')
  const here = walletNames(namer.places).includes(word) ? getWallet(namer.places, word).address : undefined
  const wanted = here ?? (isAddress(word) || isId('participant', word) ? word : await idByName(namer, kind, word))
  if (kind.isId(wanted)) return wanted
  const session = await namer.session()
  const found = await session.call('getParticipant', { params: { id: wanted } })
  const id = kind === kinds.wallet ? found.wallet : found.id
  if (kind.isId(id)) return id
  throw new CliError('failure', `The instance has no ${kind.noun} for ${word}.`)
}

/** Id of the object with this exact name. Does not guess: money is involved. @throws CliError `not_found`, `usage` */
async function idByName(asker: Asker & Pick<Namer, 'buys'>, kind: Kind, word: string): Promise<string> {
  const wanted = plainName(word)
  const called = (await kind.known(asker, wanted)).filter((one) => one.names.some((name) => plainName(name) === wanted))
  const found = nearestOwners(called, asker.buys === true)
  const [only] = found
  if (only && found.length === 1) return only.id
  if (only) throw ambiguous(kind, word, found)
  const all = await kind.known(asker)
  const near = meantBy(kind, word, all)
  throw new CliError('not_found', `No ${kind.noun} is called "${word}"${near ? ` (did you mean ${near}?)` : ''}.`, {
    next: [kind.listedBy],
  })
}

/** A name for comparing: `qr_code` and `QR code` become equal, since case, underscores and hyphens do not count. */
export function plainName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim()
}

/** The caller's own matches, else the marketplace's, else all others. For a purchase, the caller's own come last. */
function nearestOwners(called: readonly Nameable[], buys: boolean): readonly Nameable[] {
  const order = buys ? (['house', undefined, 'self'] as const) : (['self', 'house', undefined] as const)
  return order.map((of) => called.filter((one) => one.of === of)).find((some) => some.length > 0) ?? []
}

function ambiguous({ noun }: Kind, word: string, found: readonly Nameable[]): CliError {
  return usage(`"${word}" matches ${found.length} ${noun}s; use an id.`, {
    facts: found
      .slice(0, TOLD_MAX)
      .map(({ id, summary, facts = [summary] }) => harmless([id, ...facts.filter((fact) => fact !== null)].join('  '))),
  })
}

/** The only id that begins with the word. Without one, the nearest id or name; undefined if none is near. */
function meantBy({ prefix }: Kind, word: string, all: readonly Nameable[]): string | undefined {
  const ids = [...new Set(all.map(({ id }) => id))]
  const begun = word.length > prefix.length && word.startsWith(prefix) ? ids.filter((id) => id.startsWith(word)) : []
  if (begun.length === 1) return begun[0]
  const names = all.flatMap((one) => one.names.map(plainName))
  const near = nearest(word, ids) ?? nearest(plainName(word), names)?.replaceAll(' ', '_')
  return near === word ? undefined : near
}

/** Adds "did you mean" to a failure if a near name is found in time. Errors of this search are ignored. */
export async function withMeant(error: unknown, asker: Asker, words: { args: Words; options: Words }) {
  if (!(error instanceof AppError) || error.code !== 'not_found' || error.message.includes('did you mean')) return error
  const typed = [...pairs(words.args, kindOfArgument), ...pairs(words.options, kindOfOption)]
  const found = new AbortController()
  const late = asker.system.sleep(MEANT_MS, found.signal).then(() => undefined)
  // If the search fails, only the original failure is reported.
  const near = await Promise.race([firstMeant(asker, typed).catch(() => undefined), late])
  found.abort()
  if (near === undefined) return error
  const { code, details, retryAfter, extra } = error
  return new AppError(code, `${error.message.replace(/\.$/, '')} (did you mean ${near}?).`, {
    extra,
    cause: error,
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  })
}

type Typed = readonly [kind: Kind, word: string]

function pairs(words: Words, kindOf: (key: string) => Kind | undefined): readonly Typed[] {
  return Object.entries(words).flatMap(([key, value]) => {
    const kind = kindOf(key)
    const values = Array.isArray(value) ? value : [value]
    return kind === undefined ? [] : values.flatMap((one) => (typeof one === 'string' ? [[kind, one] as const] : []))
  })
}

async function firstMeant(asker: Asker, typed: readonly Typed[]): Promise<string | undefined> {
  for (const [kind, word] of typed) {
    const near = meantBy(kind, word, await kind.known(asker))
    if (near !== undefined) return near
  }
  return undefined
}
