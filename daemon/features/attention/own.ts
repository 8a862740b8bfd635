import type { z } from 'zod'
import type { OwnAttentionItem } from '../../../src/api/sections/attention.ts'
import type { OwnAttentionKind } from '../../../src/model/words.ts'
import { ownRows } from '../../kernel/parties.ts'
import type { ParticipantRow, PartyRow } from '../../kernel/rows.ts'
import type { Collection, ReadTx, Row } from '../../store/port.ts'
import { type JobRow, jobParties, jobs } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { plans, subscriptionParties, subscriptions } from '../subscriptions/rows.ts'
import { threadParties, threads } from '../threads/rows.ts'
import { deliveries } from '../webhooks/rows.ts'
import { MAX_OF_A_KIND } from './find.ts'

type Item = Omit<z.output<typeof OwnAttentionItem>, 'kind'>
export type OwnItems = { readonly kind: OwnAttentionKind; readonly items: readonly Item[]; readonly count: number }
type Reading = { readonly t: ReadTx; readonly me: Pick<ParticipantRow, 'id' | 'wallet'> }

type Slice<R extends Row> = {
  readonly parties: Collection<PartyRow>
  readonly of: Collection<R>
  readonly role?: PartyRow['role']
  readonly status: string
}

/** The newest rows of one status in which the caller has the role `role`, and the number of all such rows. */
async function newest<R extends Row>({ t, me }: Reading, { parties, of, role, status }: Slice<R>) {
  const query = { wallet: me.wallet, role, status, limit: MAX_OF_A_KIND }
  const { rows, total: count } = await ownRows(t, { parties, rows: of }, query)
  return { rows, count }
}

/** Members of an item that have no default. */
type ItemWords = Pick<Item, 'id' | 'subject' | 'sentence' | 'fix'> & Partial<Item>

async function foundItems<R>(
  kind: OwnAttentionKind,
  { rows, count = rows.length }: { readonly rows: readonly R[]; readonly count?: number },
  wordsOf: (row: R) => ItemWords | Promise<ItemWords>,
): Promise<OwnItems> {
  const items = await Promise.all(rows.slice(0, MAX_OF_A_KIND).map(wordsOf))
  return { kind, items: items.map((words) => ({ amount: null, since: null, due: null, ...words })), count }
}

function wordsOfJob(kind: OwnAttentionKind, job: JobRow, said: Pick<Item, 'sentence' | 'fix'> & Partial<Item>) {
  return {
    id: `${kind} ${job.id}`,
    subject: { kind: 'job', id: job.id },
    amount: job.amount,
    since: job.completed_at ?? job.created_at,
    due: job.next_event_at,
    ...said,
  }
}

/** Disputes that hold the caller's money, as buyer or provider. */
async function disputes(reading: Reading): Promise<OwnItems> {
  const found = await newest(reading, { parties: jobParties, of: jobs, status: 'disputed' })
  return foundItems('dispute', found, (job) => {
    const isSeller = job.provider_id === reading.me.id
    const sentence = isSeller
      ? `The buyer disputes "${job.service_name}": your payment is held until the operator decides.`
      : `Your dispute of "${job.service_name}" awaits the operator’s decision.`
    const since = job.dispute?.opened_at ?? null
    return wordsOfJob('dispute', job, { sentence, since, fix: `souk jobs view ${job.id}` })
  })
}

async function work(reading: Reading): Promise<OwnItems> {
  const slice = { parties: jobParties, of: jobs, role: 'provider' } as const
  const found = await Promise.all(
    (['dispatched', 'in_progress'] as const).map((status) => newest(reading, { ...slice, status })),
  )
  const rows = found.flatMap((one) => one.rows)
  const count = found.reduce((sum, one) => sum + one.count, 0)
  return foundItems('work', { rows, count }, (job) => {
    const sentence = `A buyer ordered "${job.service_name}": deliver it.`
    const fix = `souk jobs update ${job.id} --deliverable deliverable.json`
    return wordsOfJob('work', job, { sentence, fix, due: job.deadline_at })
  })
}

/** Deliveries that the caller bought and has not verified. */
async function verdicts(reading: Reading): Promise<OwnItems> {
  const slice = { parties: jobParties, of: jobs, role: 'buyer', status: 'completed' } as const
  return foundItems('verify', await newest(reading, slice), (job) =>
    wordsOfJob('verify', job, {
      sentence: `"${job.service_name}" was delivered: verify or dispute it before the payment is released.`,
      fix: `souk jobs verify ${job.id} --rating 5`,
    }),
  )
}

async function proposals(reading: Reading): Promise<OwnItems> {
  const slice = { parties: threadParties, of: threads, role: 'buyer', status: 'negotiating' } as const
  return foundItems('proposal', await newest(reading, slice), ({ id, proposal }) => ({
    id: `proposal ${id}`,
    subject: { kind: 'thread', id },
    since: proposal?.proposed_at ?? null,
    due: proposal?.expires_at ?? null,
    sentence: 'A provider proposed a price: accept or decline it.',
    fix: `souk threads view ${id}`,
  }))
}

/** The caller's subscriptions whose renewal exceeded the balance. */
async function pastDue(reading: Reading): Promise<OwnItems> {
  const slice = { parties: subscriptionParties, of: subscriptions, role: 'buyer', status: 'past_due' } as const
  return foundItems('past_due', await newest(reading, slice), async (row) => {
    const plan = await reading.t.table(plans).get(row.plan_id)
    return {
      id: `past_due ${row.id}`,
      subject: { kind: 'subscription', id: row.id },
      since: row.current_period_end,
      due: row.next_event_at,
      sentence: `The renewal of "${plan?.name ?? row.plan_id}" failed: your balance does not cover it.`,
      fix: `souk subs view ${row.id}`,
    }
  })
}

async function undelivered({ t, me }: Reading): Promise<OwnItems> {
  const prefix = [me.id, 'dead'] as const
  const { rows } = await t.table(deliveries).page('own_state', [...prefix], { limit: MAX_OF_A_KIND })
  const count = await t.table(deliveries).count('own_state', [...prefix])
  return foundItems('delivery', { rows, count }, (row) => ({
    id: `delivery ${row.id}`,
    subject: { kind: 'delivery', id: row.id },
    since: row.at,
    sentence: `Webhook message ${row.type} to your endpoint failed after ${row.tries} ${row.tries === 1 ? 'try' : 'tries'}: ${row.reason ?? 'no answer'}.`,
    fix: `souk webhooks view ${row.id}`,
  }))
}

async function endpoints({ t, me }: Reading): Promise<OwnItems> {
  const { rows } = await t.table(services).page('provider', [me.id, 'active'], { limit: MAX_OWN_LISTINGS })
  const failing = rows.filter((one) => one.webhook_status === 'failing')
  return foundItems('endpoint', { rows: failing }, (one) => ({
    id: `endpoint ${one.id}`,
    subject: { kind: 'service', id: one.id },
    sentence: `The endpoint of "${one.name}" does not answer.`,
    fix: `souk services test ${one.id}`,
  }))
}

const MAX_OWN_LISTINGS = 200

export const ownFinders: readonly ((reading: Reading) => Promise<OwnItems>)[] = [
  disputes,
  work,
  verdicts,
  proposals,
  pastDue,
  undelivered,
  endpoints,
]
