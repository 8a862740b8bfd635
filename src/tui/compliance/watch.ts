import type { WireAnswer } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { DAY_MS } from '../../core/time.ts'
import { ask, fetching } from '../shell/queries.ts'
import { text } from '../shell/read.ts'

export type SanctionsList = WireAnswer<'listSanctions'>['sdn']

export const fetchSanctions = fetching('listSanctions', { query: { limit: '1' } }, ({ sdn }): SanctionsList => sdn)

/** Maximum number of kept-back payouts in the list. Further ones are only counted. */
const KEPT_ROWS = 3
/** Rows per response. */
const ACTS = '100'
const REQUESTS = '200'

/** A payout that is kept back because its wallet is sanctioned. */
export type KeptFacts = WireAnswer<'getPayouts'>['payouts'][number] & {
  /** Name of the owner, empty if unknown. */
  readonly name: string
  /** Why the wallet is sanctioned. Empty if the wallet is no longer sanctioned. */
  readonly why: string
}

export type Kept = { readonly kept: readonly KeptFacts[]; readonly total: number }

/** Fetches the newest blocked payouts, with the owner's name and the reason. */
export const fetchKept = (link: Link) => async (signal: AbortSignal) => {
  const query = { filter: 'blocked:true', limit: String(KEPT_ROWS) }
  const found = await ask(link, { name: 'getPayouts', asked: { query, signal } }, (answer) => answer)
  if (!found.ok) return found
  const { payouts, total } = found.value
  const wallets = [...new Set(payouts.map(({ wallet }) => wallet))]
  const [names, reasons] = await Promise.all([
    namesOf(link, wallets, signal),
    Promise.all(wallets.map((wallet) => reasonOf(link, wallet, signal))),
  ])
  const kept = payouts.map(
    (one): KeptFacts => ({
      ...one,
      name: names.get(one.wallet.toLowerCase()) ?? '',
      why: reasons[wallets.indexOf(one.wallet)] ?? '',
    }),
  )
  return { ok: true as const, value: { kept, total } satisfies Kept }
}

async function namesOf(link: Link, wallets: readonly string[], signal: AbortSignal): Promise<Map<string, string>> {
  if (wallets.length === 0) return new Map()
  const query = { filter: `wallet:${wallets.join(',')}`, limit: String(KEPT_ROWS) }
  const found = await ask(link, { name: 'listParticipants', asked: { query, signal } }, ({ participants }) =>
    participants.map((one) => [text(one.wallet).toLowerCase(), text(one.name)] as const),
  )
  return new Map(found.ok ? found.value : [])
}

async function reasonOf(link: Link, wallet: string, signal: AbortSignal): Promise<string> {
  const asked = { query: { wallet, limit: '1' }, signal }
  const found = await ask(link, { name: 'listSanctions', asked }, ({ wallets: [one] }) => {
    if (one === undefined) return ''
    return one.listed
      ? `on the list since ${one.since.slice(0, 10)}`
      : `by hand: ${text(one.reason) || 'no reason given'}`
  })
  return found.ok ? found.value : ''
}

/** How often administrators read one kind of private data, and who they are. */
export type ReadFacts = { readonly what: string; readonly times: number; readonly who: readonly string[] }

export type ReadLog = {
  readonly reads: readonly ReadFacts[]
  /** Number of all reads. `reads` may cover only the newest of them. */
  readonly total: number
  /** Number of all admin actions. */
  readonly acts: number
}

type Act = WireAnswer<'getAdminLog'>['acts'][number]

/** Operator actions that read private data, with their labels. */
const readActs = {
  'job.read': 'evidence bundles',
  'thread.read': 'threads',
  'thread.list': 'lists of threads',
  'file.read': 'files of threads',
} as const

const isRead = (act: string): act is keyof typeof readActs => Object.hasOwn(readActs, act)

/** What administrators read and did in the last 24 hours of business time. */
export const fetchReads = (link: Link) => async (signal: AbortSignal) => {
  const filter = `act:${Object.keys(readActs).join(',')} age:<24h`
  const [reads, acts] = await Promise.all([
    ask(link, { name: 'getAdminLog', asked: { query: { filter, limit: ACTS }, signal } }, (answer) => answer),
    ask(
      link,
      { name: 'getAdminLog', asked: { query: { filter: 'age:<24h', limit: '1' }, signal } },
      ({ total }) => total,
    ),
  ])
  if (!reads.ok) return reads
  if (!acts.ok) return acts
  return { ok: true as const, value: { ...readsOf(reads.value), acts: acts.value } satisfies ReadLog }
}

function readsOf({ acts, total }: { readonly acts: readonly Act[]; readonly total: number }): Omit<ReadLog, 'acts'> {
  const known = acts.flatMap(({ act, actor }) => (isRead(act) ? [{ what: readActs[act], who: text(actor) }] : []))
  return { reads: Object.values(readActs).flatMap((what) => readersOf(what, known)), total }
}

function readersOf(what: string, all: readonly { readonly what: string; readonly who: string }[]): ReadFacts[] {
  const of = all.filter((one) => one.what === what)
  const times = (who: string) => of.filter((one) => one.who === who).length
  const who = [...new Set(of.map((one) => one.who))].toSorted((a, b) => times(b) - times(a))
  return of.length === 0 ? [] : [{ what, times: of.length, who }]
}

/** Fetches participants' exports of their own data. Covers 24 hours, or less if the request log is shorter. */
export const fetchExports = (link: Link, wall: () => number) => (signal: AbortSignal) => {
  const since = new Date(wall() - DAY_MS).toISOString()
  const query = { path: '/v1/export', status: '2xx', since, limit: REQUESTS }
  return ask(link, { name: 'listRequests', asked: { query, signal } }, ({ requests }): readonly ReadFacts[] =>
    readersOf(
      'exports',
      requests.map(({ name, caller }) => ({ what: 'exports', who: text(name) || text(caller) || 'somebody' })),
    ),
  )
}
