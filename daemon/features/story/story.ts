import type { z } from 'zod'
import type { requestsApi } from '../../../src/api/sections/admin-requests.ts'
import { AppError } from '../../../src/core/error.ts'
import { isAddress } from '../../../src/core/hex.ts'
import { idPrefixes } from '../../../src/core/id-prefixes.ts'
import type { ReadTx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { earnings } from '../ledger/rows.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { threads } from '../threads/rows.ts'
import { deliveries } from '../webhooks/rows.ts'
import { durableRequest, isAbout, jobOf, type LoggedRequest, REQUESTS_KEPT, requestOfPayment } from './requests.ts'
import {
  below,
  join,
  mayRead,
  type StoryTold,
  type Telling,
  tellDelivery,
  tellJob,
  tellPaidJobs,
  tellPayment,
  tellPayout,
  tellRequest,
  threadLine,
} from './steps.ts'

type Story = z.output<typeof requestsApi.getRequestStory.reply.schema>

/** Maximum items of each kind for a wallet. */
const OF_A_WALLET = 10
const PAYMENTS_SEARCHED = 1_000
const EARNINGS_SEARCHED = 1_000
const MAX_COMMANDS = 6

const FORGOTTEN = `Traces cover the last ${REQUESTS_KEPT} requests. For requests before the daemon last started, only stored records remain.`

/** Trace builders by id prefix. */
const tellers: Readonly<Record<string, (telling: Telling, id: string) => Promise<StoryTold | undefined>>> = {
  [idPrefixes.request]: tellOfRequest,
  [idPrefixes.job]: async (telling, id) => tellOfPayment(telling, (await telling.t.table(jobs).get(id))?.payment_id),
  [idPrefixes.receipt]: async (telling, id) =>
    tellOfPayment(telling, (await telling.t.table(payments).page('receipt', [id], { limit: 1 })).rows[0]?.id),
  [idPrefixes.delivery]: tellOfDelivery,
  [idPrefixes.thread]: tellOfThread,
  [idPrefixes.payout]: async (telling, id) => tellOfPayout(telling, await telling.t.table(payouts).get(id)),
  '0x': tellOfHex,
}

/** The trace of an id. @throws AppError not_found that lists the valid kinds of ids */
export async function storyOf(telling: Telling, id: string): Promise<Story> {
  const teller = Object.entries(tellers).find(([prefix]) => id.startsWith(prefix))?.[1]
  const told = await teller?.(telling, id)
  if (!told || told.steps.length === 0) throw unknown(id, teller !== undefined)
  const lost = told.remade || !told.steps.some(({ kind }) => kind === 'request' || kind === 'offer') ? FORGOTTEN : null
  return { id, steps: [...told.steps], next: told.next.slice(0, MAX_COMMANDS), lost }
}

function unknown(id: string, isKind: boolean): AppError {
  const kinds = Object.keys(tellers).map((prefix) => `${prefix}…`)
  const message = isKind
    ? `No trace of ${id}. ${FORGOTTEN}`
    : `"${id.slice(0, 40)}" is not the id of a traced object: use one of ${kinds.join(', ')}.`
  return new AppError('not_found', message)
}

async function tellOfRequest(telling: Telling, id: string): Promise<StoryTold | undefined> {
  const { t, find } = telling
  const request = find(id) ?? (await durableRequest(t, id))
  if (!request || !mayRead(telling, [request.caller])) return undefined
  const payment = request.payment === null ? undefined : await t.table(payments).get(request.payment)
  const told = await tellRequest(telling, request, payment)
  const named = /(job|thr|whd|out)_[0-9a-f]{16}/.exec(request.path)?.[0]
  return named === undefined ? told : { ...told, next: [...told.next, `souk why ${named}`] }
}

/** Trace of a payment, beginning with its request if that is known. */
async function tellOfPayment(telling: Telling, id: string | undefined): Promise<StoryTold | undefined> {
  const { t, find } = telling
  const payment = id === undefined ? undefined : await t.table(payments).get(id)
  if (!payment) return undefined
  if (!mayRead(telling, [payment.payer, payment.participant_id])) return tellOfSale(telling, payment)
  const known = payment.request_id === undefined ? undefined : find(payment.request_id)
  const request = known ?? requestOfPayment(payment)
  return request ? tellRequest(telling, request, payment) : tellPayment(telling, payment)
}

/** Trace of a sale, for its seller: the job, without the payment. */
async function tellOfSale(telling: Telling, payment: PaymentRow): Promise<StoryTold | undefined> {
  const job = await jobOf(telling.t, payment)
  return job && mayRead(telling, [job.provider_id]) ? tellJob(telling, job) : undefined
}

async function tellOfDelivery(telling: Telling, id: string): Promise<StoryTold | undefined> {
  const delivery = await telling.t.table(deliveries).get(id)
  if (!delivery || !mayRead(telling, [delivery.participant_id])) return undefined
  const job = delivery.job_id === null ? undefined : await telling.t.table(jobs).get(delivery.job_id)
  const story = job && (await tellOfPayment(telling, job.payment_id))
  if (story?.steps.some((step) => step.id === id)) return story
  return join(story, tellDelivery(telling, delivery))
}

async function tellOfThread(telling: Telling, id: string): Promise<StoryTold | undefined> {
  const { t, entries } = telling
  const thread = await t.table(threads).get(id)
  if (!thread || !mayRead(telling, [thread.buyer_wallet, thread.provider_id])) return undefined
  const job = thread.job_id === null ? undefined : await t.table(jobs).get(thread.job_id)
  const about = { ids: [id], paymentId: null }
  const isMeant = (one: LoggedRequest) => one.method !== 'GET' && isAbout(one, about) && mayRead(telling, [one.caller])
  const asked = job ? [] : entries.filter(isMeant)
  const requests = await Promise.all(asked.map((one) => tellRequest(telling, one, undefined)))
  const story = job && (await tellOfPayment(telling, job.payment_id))
  return join(threadLine(telling, thread), below(join(...requests, story ?? (job && (await tellJob(telling, job))))))
}

/** Trace of a payout, with the refund or the jobs that it pays. */
async function tellOfPayout(telling: Telling, payout: PayoutRow | undefined): Promise<StoryTold | undefined> {
  if (!payout || !mayRead(telling, [payout.wallet])) return undefined
  const { t } = telling
  const payment = await paymentOf(t, payout)
  const story = payment && (await tellOfPayment(telling, payment.id))
  if (story?.steps.some(({ id }) => id === payout.id)) return story
  return join(tellPayout(telling, payout), below(story ?? (await tellPaidJobs(t, await earnedJobs(t, payout)))))
}

async function paymentOf(t: ReadTx, { ref_id }: PayoutRow): Promise<PaymentRow | undefined> {
  if (ref_id.startsWith(idPrefixes.receipt)) {
    return (await t.table(payments).page('receipt', [ref_id], { limit: 1 })).rows[0]
  }
  const job = ref_id.startsWith(idPrefixes.job) ? await t.table(jobs).get(ref_id) : undefined
  return job && t.table(payments).get(job.payment_id)
}

/** Ids of the jobs whose earnings a payout carries: all earnings since the account's previous payout. */
async function earnedJobs(t: ReadTx, { source, covers, created_at }: PayoutRow): Promise<string[]> {
  const [kind, owner = ''] = source.split(':')
  if (kind !== 'prov') return []
  const before = (await t.table(payouts).page('source', [source], { limit: 1, order: 'desc', beyond: [created_at] }))
    .rows[0]
  const page = await t.table(earnings).page('own', [owner, 'sales'], { limit: EARNINGS_SEARCHED, beyond: [covers + 1] })
  const carried = page.rows.filter(({ seq, ref_kind }) => seq > (before?.covers ?? 0) && ref_kind === 'job')
  return [...new Set(carried.map(({ ref_id }) => ref_id))]
}

/** Trace for a hexadecimal id: a wallet's recent activity, or a transaction on the chain. */
async function tellOfHex(telling: Telling, id: string): Promise<StoryTold | undefined> {
  if (isAddress(id)) return tellOfWallet(telling, id.toLowerCase())
  const { t } = telling
  const hash = id.toLowerCase()
  const paid = (await t.table(payments).page('newest', [], { limit: PAYMENTS_SEARCHED })).rows
  const payment = paid.find(({ transaction }) => transaction?.toLowerCase() === hash)
  if (payment) return tellOfPayment(telling, payment.id)
  const sent = (await t.table(payouts).page('newest', [], { limit: PAYMENTS_SEARCHED })).rows
  return tellOfPayout(
    telling,
    sent.find(({ transaction }) => transaction?.toLowerCase() === hash),
  )
}

async function tellOfWallet(telling: Telling, wallet: string): Promise<StoryTold | undefined> {
  if (!mayRead(telling, [wallet])) return undefined
  const { t, entries } = telling
  const paid = (await t.table(payments).page('payer', [wallet], { limit: OF_A_WALLET })).rows
  const known = new Set(paid.map(({ id }) => id))
  const isOther = (payment: string | null) => payment === null || !known.has(payment)
  const asked = entries.filter((one) => one.caller === wallet && isOther(one.payment)).slice(-OF_A_WALLET)
  const out = (await t.table(payouts).page('wallet', [wallet], { limit: OF_A_WALLET })).rows
  const told = await Promise.all([
    ...asked.map((one) => tellRequest(telling, one, undefined)),
    ...paid.map((payment) => tellOfPayment(telling, payment.id)),
    ...out.map(async (payout) => tellPayout(telling, payout)),
  ])
  return join(...told)
}
