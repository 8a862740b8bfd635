import type { z } from 'zod'
import type { StoryStep } from '../../../src/api/sections/admin-requests.ts'
import { checksumAddress } from '../../../src/core/hex.ts'
import { formatAmount, type Usdc } from '../../../src/core/money.ts'
import { faultSentences, type PaymentFault } from '../../../src/core/payment-fault.ts'
import { compact } from '../../../src/core/record.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'
import type { PaymentRow } from '../payments/rows.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { type DeliveryRow, deliveries } from '../webhooks/rows.ts'
import {
  aboutJob,
  isAbout,
  jobOf,
  type LoggedRequest,
  type OfferOf,
  offersIn,
  type RequestLog,
  shownPath,
} from './requests.ts'

export type Step = z.output<typeof StoryStep>
/** Steps of a trace, with commands that show more. */
export type StoryTold = {
  readonly steps: readonly Step[]
  readonly next: readonly string[]
  /** Set if a request was reconstructed from the store. */
  readonly remade?: true
}
/** A participant that reads the trace of its own request. The trace then has no data of other participants. */
export type StoryReader = { readonly id: string; readonly wallet: string }
/** What traces are built from: the store, and a snapshot of the request log. */
export type Telling = {
  readonly t: ReadTx
  /** Undefined for the operator, who may read all data. */
  readonly reader?: StoryReader | undefined
  readonly find: RequestLog['find']
  readonly entries: readonly LoggedRequest[]
  readonly offerOf: OfferOf
}

export function tellingOf(t: ReadTx, log: RequestLog, reader?: StoryReader): Telling {
  const entries = log.after(0)
  return { t, reader, find: log.find, entries, offerOf: offersIn(entries) }
}

/** Whether the reader owns one of these ids and wallets, or is the operator. */
export function mayRead({ reader }: Telling, owners: readonly (string | null)[]): boolean {
  return reader === undefined || owners.some((one) => one === reader.id || one === reader.wallet)
}

/** Maximum number of substeps of one kind under one step. */
const MAX_SIBLINGS = 50

/** The same steps one level deeper in the tree. */
export function below(told: StoryTold): StoryTold {
  return { ...told, steps: told.steps.map((step) => ({ ...step, depth: step.depth + 1 })) }
}

export function join(...parts: readonly (StoryTold | undefined)[]): StoryTold {
  const told = parts.filter((part) => part !== undefined)
  return {
    steps: told.flatMap(({ steps }) => steps),
    next: [...new Set(told.flatMap(({ next }) => next))],
    ...(told.some(({ remade }) => remade) ? { remade: true } : {}),
  }
}

function line(step: Pick<Step, 'kind' | 'sign' | 'sentence'> & Partial<Step>): Step {
  return { depth: 0, id: null, at: null, amount: null, ms: null, ...step }
}

const alone = (step: Step, next: readonly string[] = []): StoryTold => ({ steps: [step], next })

function signOf({ failed, done }: { failed: boolean; done: boolean }): Step['sign'] {
  if (failed) return 'failed'
  return done ? 'done' : 'waits'
}

function isUndone(state: PaymentRow['state']): boolean {
  return state === 'released' || state === 'refunded' || state === 'reversed'
}

async function whoIs(t: ReadTx, id: string | null): Promise<string> {
  if (id === null) return 'somebody'
  if (id.startsWith('0x')) return checksumAddress(id as `0x${string}`) // a stored wallet
  return (await t.table(participants).get(id))?.name ?? id
}

/** Trace of a request: the 402 before it, the request, and its effects. */
export async function tellRequest(
  telling: Telling,
  request: LoggedRequest,
  payment: PaymentRow | undefined,
): Promise<StoryTold> {
  const { t } = telling
  const { id, at, status, tookMs, code, price, remade } = request
  const answer = status === null ? 'under way' : `answered ${status}`
  const sentence = `${await whoIs(t, request.caller)}: ${request.method} ${shownPath(request.path)}, ${remade ? 'reconstructed from the store' : answer}${whyOf(code)}`
  const sign = signOf({ failed: (status ?? 0) >= 400, done: status !== null || remade === true })
  const asked = telling.offerOf(request)
  const nextOf = telling.reader === undefined ? nextOfRequest : () => []
  return join(
    asked && alone(offerLine(asked)),
    {
      ...alone(line({ kind: 'request', id, at, sign, amount: price, ms: tookMs, sentence }), nextOf(request)),
      ...compact({ remade }),
    },
    payment && below(await tellPayment(telling, payment)),
  )
}

function whyOf(code: string | null): string {
  if (code === null) return ''
  return Object.hasOwn(faultSentences, code) ? `: ${faultSentences[code as PaymentFault]}` : `: ${code}` // a key
}

function nextOfRequest({ status, code, caller, path }: LoggedRequest): string[] {
  const wallet = caller?.startsWith('0x') ? checksumAddress(caller as `0x${string}`) : caller // a stored wallet
  if (code === 'insufficient_funds' && wallet?.startsWith('0x')) return [`souk wallet fund ${wallet}`]
  if (code === 'insufficient_balance') return ['souk balance deposit 1.00']
  if (status === 402) return ['souk help payments']
  if (status === 404 && code === 'not_found' && !path.startsWith('/v1/')) return ['souk endpoints list']
  return (status ?? 0) >= 500 ? ['souk logs --level error --tail 20'] : []
}

/** Step for the 402 that the same buyer got shortly before paying. */
function offerLine({ id, at, price, tookMs }: LoggedRequest): Step {
  const sentence = `402 requested ${price === null ? 'a payment' : `$${formatAmount(price)}`} for the same path`
  return line({ kind: 'offer', id, at, sign: 'done', amount: price, ms: tookMs, sentence })
}

/** Trace of a payment: signature, settlement and resulting job. */
export async function tellPayment(telling: Telling, payment: PaymentRow): Promise<StoryTold> {
  const { t } = telling
  const job = await jobOf(t, payment)
  return join(
    alone(paymentLine(payment)),
    below(alone(settlementLine(payment))),
    job && below(await tellJob(telling, job)),
  )
}

function paymentLine({ receipt_id, method, payer, price, authorization, state, created_at }: PaymentRow): Step {
  const wallet = checksumAddress(payer)
  const valid =
    authorization === null ? '' : `, good until ${new Date(Number(authorization.valid_before) * 1000).toISOString()}`
  const sentence = {
    x402: `${wallet} signed $${formatAmount(price)}${valid}`,
    balance: `paid from the balance of ${wallet}`,
    subscription: `paid for by a subscription of ${wallet}`,
  }[method]
  const sign = signOf({ failed: isUndone(state), done: state === 'fulfilled' })
  return line({
    kind: 'payment',
    id: receipt_id,
    at: created_at,
    sign,
    amount: price,
    sentence: `${sentence}: ${state}`,
  })
}

const settlements: Readonly<Record<PaymentRow['state'], string>> = {
  reserved: 'not settled yet; the service is running',
  settling: 'being settled on the chain',
  settled: 'settled; the purchase is being recorded',
  fulfilled: 'settled',
  released: 'nothing was charged',
  refunded: 'settled, then refunded: the purchase failed',
  reversed: 'settled, then reverted by the chain: the money is missing',
}

function settlementLine({ state, transaction, price, updated_at }: PaymentRow): Step {
  const sign = signOf({ failed: isUndone(state), done: state === 'fulfilled' || state === 'settled' })
  return line({
    kind: 'settlement',
    id: transaction,
    at: updated_at,
    sign,
    amount: price,
    sentence: settlements[state],
  })
}

const badJobs: ReadonlySet<JobRow['status']> = new Set(['failed', 'cancelled', 'expired', 'disputed', 'refunded'])

/** Trace of a job: its events, notifications, requests and money, in order of time. */
export async function tellJob(telling: Telling, job: JobRow): Promise<StoryTold> {
  const { t } = telling
  const { id, status, service_name, amount, created_at, ended_at } = job
  const sign = signOf({ failed: badJobs.has(status), done: ended_at !== null })
  const sentence = `${service_name} by ${await whoIs(t, job.provider_id)}: ${status}`
  const parts = [
    ...job.timeline.map((one) =>
      alone(line({ kind: 'milestone', at: one.at, sign: 'done', sentence: milestone(one) })),
    ),
    ...(await deliveriesOf(telling, id)).map((one) => tellDelivery(telling, one)),
    ...(await requestsAbout(telling, job)),
    ...(await booksOf(telling, job)),
    ...(await payoutsOf(telling, job)),
  ]
  const inOrder = parts.toSorted((one, two) => (one.steps[0]?.at ?? 0) - (two.steps[0]?.at ?? 0))
  const own = line({ kind: 'job', id, at: created_at, sign, amount, sentence })
  return join(alone(own, nextOfJob(telling, job)), below(join(...inOrder)))
}

function milestone({ event, detail }: JobRow['timeline'][number]): string {
  return detail === '' ? event : `${event}: ${detail}`
}

function nextOfJob({ reader }: Telling, { id, status, thread_id }: JobRow): string[] {
  if (reader) return [`souk jobs view ${id}`, `souk threads view ${thread_id}`]
  if (status === 'disputed') return [`souk admin jobs bundle ${id}`]
  return [`souk admin jobs bundle ${id}`, `souk admin threads view ${thread_id}`]
}

async function deliveriesOf(telling: Telling, jobId: string): Promise<readonly DeliveryRow[]> {
  const { rows } = await telling.t.table(deliveries).page('job', [jobId], { limit: MAX_SIBLINGS })
  return rows.filter(({ participant_id }) => mayRead(telling, [participant_id]))
}

export function tellDelivery({ reader }: Telling, delivery: DeliveryRow): StoryTold {
  const { id, type, url, state, reason, created_at, attempts } = delivery
  const sign = signOf({ failed: state === 'dead' || state === 'dropped', done: state === 'delivered' })
  const why = reason === null ? '' : `: ${reason}`
  const own = line({ kind: 'delivery', id, at: created_at, sign, sentence: `${type} to ${url}: ${state}${why}` })
  const tries = attempts.map((one, number) => {
    const came = one.error ?? `answered ${one.status ?? 'nothing'}`
    const sign = one.error === null ? 'done' : 'failed'
    return line({ kind: 'attempt', at: one.at, sign, ms: one.latency_ms, sentence: `try ${number + 1}: ${came}` })
  })
  const next = state === 'dead' ? [reader ? `souk webhooks view ${id}` : `souk admin webhooks replay ${id}`] : []
  return join(alone(own, next), below({ steps: tries, next: [] }))
}

/** Traces of the HTTP requests about a job since its purchase. */
async function requestsAbout(telling: Telling, job: JobRow): Promise<StoryTold[]> {
  const { t, entries } = telling
  const about = await aboutJob(t, job.id)
  const found = entries.filter(
    (one) =>
      one.payment !== job.payment_id && one.method !== 'GET' && isAbout(one, about) && mayRead(telling, [one.caller]),
  )
  const lines = found.slice(-MAX_SIBLINGS).map(async ({ id, at, method, path, status, code, caller, tookMs: ms }) => {
    const sentence = `${await whoIs(t, caller)}: ${method} ${shownPath(path)}, answered ${status}${whyOf(code)}`
    return alone(line({ kind: 'request', id, at, ms, sign: (status ?? 0) >= 400 ? 'failed' : 'done', sentence }))
  })
  return Promise.all(lines)
}

async function entriesOf(t: ReadTx, jobId: string): Promise<readonly LedgerRow[]> {
  return (await t.table(ledger).page('job', [jobId], { limit: MAX_SIBLINGS })).rows
}

/** Ledger entries of a job, for the operator only, since they name accounts of all parties. */
async function booksOf({ t, reader }: Telling, job: JobRow): Promise<StoryTold[]> {
  if (reader) return []
  return (await entriesOf(t, job.id)).map(({ id, kind, lines, at }) => {
    const gains = lines
      .filter(({ delta }) => delta > 0n)
      .map(({ account: name, delta }) => `$${formatAmount(delta)} to ${name}`)
    return alone(line({ kind: 'books', id, at, sign: 'done', sentence: `${kind}: ${gains.join(', ')}` }))
  })
}

/** Payouts of a job's money: the provider's earnings, or the buyer's refund. */
async function payoutsOf(telling: Telling, job: JobRow): Promise<StoryTold[]> {
  const { t, reader } = telling
  const earned = mayRead(telling, [job.provider_id]) ? await earningOf(t, job) : undefined
  const all = [...(await byReference(t, [job.id, job.receipt_id])), ...(earned ? await covering(t, earned) : [])]
  const found = all.filter(({ wallet }) => mayRead(telling, [wallet]))
  const told = [...new Map(found.map((row) => [row.id, row])).values()].map((row) => tellPayout(telling, row))
  if (earned === undefined || found.length > 0) return told
  const sentence = `$${formatAmount(earned.amount)} will be in the next settlement of the provider’s earnings`
  const waiting = line({ kind: 'payout', at: earned.at, sign: 'waits', amount: earned.amount, sentence })
  return [...told, alone(waiting, [reader ? 'souk earnings' : 'souk crons run provider-settlement'])]
}

async function byReference(t: ReadTx, ids: readonly string[]): Promise<PayoutRow[]> {
  const pages = ids.map((id) => t.table(payouts).page('ref', [id], { limit: MAX_SIBLINGS }))
  return (await Promise.all(pages)).flatMap(({ rows }) => rows)
}

type Earned = { readonly source: string; readonly seq: number; readonly at: number; readonly amount: Usdc }

async function earningOf(t: ReadTx, job: JobRow): Promise<Earned | undefined> {
  const source = account.provider(job.provider_id)
  for (const { lines, seq, at } of await entriesOf(t, job.id)) {
    const gain = lines.find((one) => one.account === source && one.delta > 0n)
    if (gain) return { source, seq, at, amount: gain.delta }
  }
  return undefined
}

async function covering(t: ReadTx, { source, seq, at }: Earned): Promise<PayoutRow[]> {
  const { rows } = await t
    .table(payouts)
    .page('source', [source], { limit: MAX_SIBLINGS, order: 'asc', beyond: [at - 1] })
  const first = rows.find(({ covers }) => covers >= seq)
  return first ? [first] : []
}

export function tellPayout({ reader }: Telling, payout: PayoutRow): StoryTold {
  const { id, kind, wallet, amount, status, attempts, last_error, transaction, created_at, updated_at } = payout
  const sign = signOf({ failed: status === 'failed' || status === 'needs_operator', done: status === 'confirmed' })
  const why = last_error === null ? '' : `: ${last_error}`
  const tries = attempts === 0 ? '' : `, ${attempts} ${attempts === 1 ? 'try' : 'tries'}`
  const sentence = `${kind} to ${checksumAddress(wallet)}: ${status}${tries}${why}`
  const own = line({ kind: 'payout', id, at: created_at, sign, amount, sentence })
  const sent = line({
    kind: 'settlement',
    id: transaction,
    at: updated_at,
    sign: 'done',
    amount,
    sentence: 'transferred on the chain',
  })
  const next = sign === 'failed' && !reader ? [`souk admin payouts --status ${status}`] : []
  return join(alone(own, next), transaction === null ? undefined : below(alone(sent)))
}

export async function tellPaidJobs(t: ReadTx, ids: readonly string[]): Promise<StoryTold> {
  const rows = await t.table(jobs).getMany(ids)
  const steps = rows.map(({ id, service_name, provider_amount, status, created_at }) =>
    line({
      kind: 'job',
      id,
      at: created_at,
      sign: 'done',
      amount: provider_amount,
      sentence: `${service_name}: ${status}`,
    }),
  )
  return { steps, next: rows.slice(0, 1).map(({ id }) => `souk why ${id}`) }
}

type Conversation = {
  readonly id: string
  readonly status: string
  readonly message_count: number
  readonly created_at: number
}

export function threadLine({ reader }: Telling, thread: Conversation): StoryTold {
  const { id, status, message_count, created_at } = thread
  const sentence = `conversation, ${message_count} ${message_count === 1 ? 'message' : 'messages'}: ${status}`
  const next = [`souk ${reader ? 'threads' : 'admin threads'} view ${id}`]
  return alone(line({ kind: 'thread', id, at: created_at, sign: 'done', sentence }), next)
}
