import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome, Problem } from '../../client/link.ts'
import { formatPrice, parseAmount, ZERO } from '../../core/money.ts'
import { tiers } from '../../model/words.ts'
import type { Job } from '../../nouns/jobs.ts'
import type { NounFact } from '../../nouns/noun.ts'
import { partyOf, type SeenParticipant } from '../../nouns/people.ts'
import { count, safe, shortSpan } from '../../text/text.ts'
import { timeNear } from '../../text/time.ts'
import { fetchPast, type Past, pastWords } from '../job/past.ts'
import { askUser, refuse, shellCommand } from '../shell/ask.ts'
import { type DialogSpec, needed, reasonField } from '../shell/dialog.ts'
import { placeOf } from '../shell/places.ts'
import { ask } from '../shell/queries.ts'
import { text } from '../shell/read.ts'
import type { Host } from '../shell/screen.ts'
import { goTo, unnarrowed } from '../shell/ui.ts'

/* What the operator knows of a person, floating over any screen. */

/** Somebody whose card can be opened, by id or wallet. */
type Who = { readonly id: string; readonly role: string }

const SUBJECT = /\b(?:(?:job|thr|svc|p)_[0-9a-f]{16}|0x[0-9a-fA-F]{40})\b/
const READ_MS = 5_000
/** Limit on failed requests among which a person's last refusal is looked for. */
const REFUSALS = 1_000

/** Opens the card of the person that a row is about. @param texts - texts of the row, one of which may have an id */
export async function openCard(host: Host, texts: readonly (string | null | undefined)[]): Promise<void> {
  const [id] = texts.flatMap((text) => SUBJECT.exec(text ?? '')?.[0] ?? [])
  const before = host.ui.get().screen
  const isAdmin = host.whereabouts()?.admin !== false
  const who = id === undefined || !isAdmin ? [] : await partiesOf(host.link, id)
  const ui = host.ui.get()
  if (who.length === 0) refuse(host, isAdmin ? 'The selection names no person.' : 'Cards need the admin credential.')
  else if (ui.screen === before && !ui.picker && !ui.dialog)
    host.ui.set({ ...ui, picker: { kind: 'card', text: '', at: 0, who } })
}

const both = (buyer: string | null | undefined, provider: string | undefined): readonly Who[] =>
  [
    { id: buyer ?? '', role: 'buyer' },
    { id: provider ?? '', role: 'provider' },
  ].filter(({ id }) => id !== '')

/** The people behind a job, a conversation or a listing. */
async function partiesOf(link: Link, id: string): Promise<readonly Who[]> {
  const signal = AbortSignal.timeout(READ_MS)
  const one = { query: { filter: `id:${id}`, limit: '1' }, signal }
  const readers = {
    job: () =>
      ask(link, { name: 'listAllJobs', asked: one }, ({ jobs: [job] }) =>
        both(job?.buyer?.participant_id ?? job?.buyer?.wallet, job?.provider_id),
      ),
    thr: () =>
      ask(link, { name: 'listAllThreads', asked: one }, ({ threads: [thread] }) =>
        both(thread?.agent_id, thread?.provider_id),
      ),
    svc: () =>
      ask(link, { name: 'getService', asked: { params: { id }, signal } }, (listing) =>
        both(null, listing.provider_id),
      ),
  }
  const read = new Map(Object.entries(readers)).get(id.slice(0, 3))
  const found = await read?.()
  if (found === undefined) return [{ id, role: '' }]
  return found.ok ? found.value : []
}

export type Card = {
  readonly id: string
  /** Undefined for a wallet that is not registered. */
  readonly person: SeenParticipant | undefined
  readonly bought: Past
  readonly sold: Past
  readonly threads: number
  readonly refused: { readonly id: string; readonly words: string; readonly at: number } | undefined
  /** Why the person is suspended. */
  readonly why: string
}

/** Fetches a card in at most six reads, each bounded. */
export const fetchCard =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<Card>> => {
    const query = { filter: `${id.startsWith('0x') ? 'wallet' : 'id'}:${id}`, limit: '1' }
    const found = await ask(
      link,
      { name: 'listParticipants', asked: { query, signal } },
      (page) => page.participants[0],
    )
    if (!found.ok) return found
    const { value: person } = found
    const participant = person?.id ?? id
    const conversations = { query: { participant, limit: '1' }, signal }
    const [bought, sold, threads, refused, why] = await Promise.all([
      fetchPast(link, { participant, role: 'buyer', signal }),
      fetchPast(link, { participant, role: 'provider', signal }),
      ask(link, { name: 'listAllThreads', asked: conversations }, ({ total }) => total),
      ask(link, { name: 'listRequests', asked: { query: failedOnes, signal } }, ({ requests }) =>
        refusalOf(requests, [participant, person?.wallet ?? id]),
      ),
      person?.suspended_at ? fetchWhy(link, participant, signal) : unsuspended,
    ])
    const none = { jobs: [], total: 0 }
    const facts = { id, person, bought: or(bought, none), sold: or(sold, none), threads: or(threads, 0) }
    return { ok: true, value: { ...facts, refused: or(refused, undefined), why: or(why, '') } }
  }

const or = <T>(found: Outcome<T>, fallback: T): T => (found.ok ? found.value : fallback)
const unsuspended = { ok: true, value: '' } as const

function fetchWhy(link: Link, id: string, signal: AbortSignal): Promise<Outcome<string>> {
  const query = { filter: `act:participant.set subject:${id}`, limit: '20' }
  return ask(link, { name: 'getAdminLog', asked: { query, signal } }, ({ acts }) =>
    safe(acts.find(({ detail }) => detail.suspended === true)?.reason ?? ''),
  )
}

/** The last refused request of one of these callers. */
function refusalOf(requests: readonly Failed[], callers: readonly string[]): Card['refused'] {
  const names = callers.map((name) => name.toLowerCase())
  const last = requests.findLast(
    ({ caller, code }) => code !== 'payment_required' && names.includes(caller?.toLowerCase() ?? ''),
  )
  if (last === undefined) return undefined
  const { id, status, code, method, path } = last
  return { id, at: Date.parse(last.at), words: safe(`${status} ${code ?? ''} ${method} ${path}`) }
}

type Failed = WireAnswer<'listRequests'>['requests'][number]
const failedOnes = { status: '4xx', limit: String(REFUSALS) }

export function cardTitle({ id, person: one }: Card, role: string): string {
  return [safe(partyOf(one?.name, id)), role].filter(Boolean).join(', ')
}

/** A row of a card. On enter, `act` opens what the row is about, or a dialog for a change. */
type CardRow = readonly [label: string, words: string, act: () => void]

export function cardRows(
  host: Host,
  { id, person: one, bought, sold, threads, refused, why }: Card,
): readonly CardRow[] {
  const now = host.clock.now()
  const seen = () => placeOf(host, id)?.go()
  const listed = (screen: 'jobs' | 'threads', role: string) => () => {
    const ui = unnarrowed(goTo(host.ui.get(), screen), screen)
    const filters = { ...ui.filters, [screen]: `${role}:${id}` }
    host.ui.set({ ...ui, jobView: 'all', threadView: 'all', filters })
  }
  const refusal = refused === undefined ? 'no request' : `${timeNear(refused.at, now)} ${refused.words}`
  return [
    ...personFacts(one, now).map(([label, words]): CardRow => [label, words, seen]),
    ['bought', pastWords(bought), listed('jobs', 'buyer')],
    ['sold', `${paidIn(sold.jobs)} paid, ${pastWords(sold)}`, listed('jobs', 'provider')],
    ['threads', count(threads), listed('threads', sold.total > 0 ? 'provider' : 'buyer')],
    ['refused', refusal, () => toRequest(host, refused?.id)],
    ...(why === '' ? [] : [['because', why, seen] as const]),
    ...(one === undefined || host.readonly ? [] : changes(host, one)),
  ]
}

function personFacts(one: SeenParticipant | undefined, now: number): readonly NounFact[] {
  if (one === undefined) return [['is', 'not registered']]
  const { wallet, type, verification_tier: tier, created_at: came, balance, suspended_at: since } = one
  return [
    ['wallet', wallet],
    ['is', `${type}, ${tier}, since ${shortSpan(Math.max(0, now - Date.parse(came)))}`],
    ['balance', balance ? `$${balance.available}, $${balance.held} held` : '—'],
    ...(since ? [['state', `suspended since ${timeNear(Date.parse(since), now)}`] as const] : []),
  ]
}

/** Changes to a participant, with the same keys as on the People screen. */
const changes = (host: Host, one: SeenParticipant): readonly CardRow[] => [
  ['Z', one.suspended_at ? 'lift the suspension' : 'suspend', () => askUser(host, suspendDialog(host, one))],
  ['E', 'set the tier', () => askUser(host, tierDialog(host, one))],
]

/** What sales paid to their provider. */
function paidIn(jobs: readonly Job[]): string {
  const paid = jobs.filter(({ status }) => status === 'released')
  return formatPrice(paid.reduce<bigint>((sum, job) => sum + (parseAmount(job.provider_amount ?? '') ?? ZERO), ZERO))
}

function toRequest({ ui }: Host, id = ''): void {
  const next = unnarrowed(goTo(ui.get(), 'logs'), 'logs')
  const logs = { ...next.logs, view: 'refused', follow: false } as const
  ui.set({ ...next, logs, chosen: { ...next.chosen, logs: id } })
}

const reason = reasonField('Reason (saved in the audit log)')
const tier = needed({ name: 'tier', label: 'New tier', choices: tiers }, 'a tier')

const untold: Problem = { kind: 'failed', sentence: 'Choose a tier.', facts: [], next: [] }

export function tierDialog(host: Host, person: SeenParticipant): DialogSpec {
  const { id } = person
  return {
    title: 'SET A TIER',
    about: `${text(person.name) || 'no name'}  ${id}`,
    facts: () => [
      ['who', `${text(person.name) || 'no name'}  ${id}`],
      ['tier', person.verification_tier],
      ['What it does', 'the new tier applies from the next call'],
    ],
    fields: [tier, reason],
    verb: 'Set',
    command: ({ tier: said, reason: why }) =>
      shellCommand(host, ['admin', 'participants', 'tier', id, said || '…', '--reason', why || '…']),
    send: async ({ tier: said, reason: why = '' }) => {
      const chosen = tiers.find((one) => one === said)
      if (chosen === undefined) return { ok: false, problem: untold }
      const body = { verification_tier: chosen, reason: why.trim() }
      return ask(
        host.link,
        { name: 'setParticipant', asked: { params: { id }, body } },
        ({ verification_tier: now }) => `${id} is ${now}.`,
      )
    },
  }
}

export function suspendDialog(host: Host, person: SeenParticipant): DialogSpec {
  const { id } = person
  const isSuspended = Boolean(person.suspended_at)
  return {
    title: isSuspended ? 'LIFT A SUSPENSION' : 'SUSPEND SOMEBODY',
    about: `${text(person.name) || 'no name'}  ${id}`,
    facts: () => [
      ['who', `${text(person.name) || 'no name'}  ${id}`],
      ...(isSuspended
        ? [['What it does', 'key, wallet and listings work again'] as const]
        : [
            [
              'What stops',
              'its key can only read, its wallet cannot pay, its listings and requests are hidden',
            ] as const,
            ['What goes on', 'open jobs continue; its earnings are paid'] as const,
          ]),
    ],
    fields: [reason],
    verb: isSuspended ? 'Lift' : 'Suspend',
    command: ({ reason: why }) =>
      shellCommand(host, ['admin', 'participants', isSuspended ? 'unsuspend' : 'suspend', id, '--reason', why || '…']),
    send: ({ reason: why = '' }) => {
      const body = { suspended: !isSuspended, reason: why.trim() }
      return ask(host.link, { name: 'setParticipant', asked: { params: { id }, body } }, ({ suspended_at: since }) =>
        since === null ? `${id} is no longer suspended.` : `${id} is suspended.`,
      )
    },
  }
}
