import type { z } from 'zod'
import type { OwnAttentionItem } from '../../../src/api/sections/attention.ts'
import type { OwnAttentionKind } from '../../../src/model/words.ts'
import { ownIds } from '../../kernel/parties.ts'
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
async function ownRows<R extends Row>({ t, me }: Reading, { parties, of, role, status }: Slice<R>) {
  const { wallet } = me
  const { ids, total } = await ownIds(t, parties, { wallet, role, status, limit: MAX_OF_A_KIND, offset: 0 })
  return { rows: await t.table(of).getMany([...ids]), count: total }
}

function itemOfJob(kind: OwnAttentionKind, job: JobRow, said: Pick<Item, 'sentence' | 'fix'> & Partial<Item>): Item {
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
  const { rows, count } = await ownRows(reading, { parties: jobParties, of: jobs, status: 'disputed' })
  const items = rows.map((job) => {
    const isSeller = job.provider_id === reading.me.id
    const sentence = isSeller
      ? `The buyer disputes "${job.service_name}": your payment is held until the operator decides.`
      : `Your dispute of "${job.service_name}" awaits the operator’s decision.`
    const since = job.dispute?.opened_at ?? null
    return itemOfJob('dispute', job, { sentence, since, fix: `souk jobs view ${job.id}` })
  })
  return { kind: 'dispute', items, count }
}

async function work(reading: Reading): Promise<OwnItems> {
  const slice = { parties: jobParties, of: jobs, role: 'provider' } as const
  const found = await Promise.all(
    (['dispatched', 'in_progress'] as const).map((status) => ownRows(reading, { ...slice, status })),
  )
  const items = found
    .flatMap(({ rows }) => rows)
    .map((job) => {
      const sentence = `A buyer ordered "${job.service_name}": deliver it.`
      const fix = `souk jobs update ${job.id} --deliverable deliverable.json`
      return itemOfJob('work', job, { sentence, fix, due: job.deadline_at })
    })
  const count = found.reduce((sum, one) => sum + one.count, 0)
  return { kind: 'work', items: items.slice(0, MAX_OF_A_KIND), count }
}

/** Deliveries that the caller bought and has not verified. */
async function verdicts(reading: Reading): Promise<OwnItems> {
  const slice = { parties: jobParties, of: jobs, role: 'buyer', status: 'completed' } as const
  const { rows, count } = await ownRows(reading, slice)
  const items = rows.map((job) =>
    itemOfJob('verify', job, {
      sentence: `"${job.service_name}" was delivered: verify or dispute it before the payment is released.`,
      fix: `souk jobs verify ${job.id} --rating 5`,
    }),
  )
  return { kind: 'verify', items, count }
}

async function proposals(reading: Reading): Promise<OwnItems> {
  const slice = { parties: threadParties, of: threads, role: 'buyer', status: 'negotiating' } as const
  const { rows, count } = await ownRows(reading, slice)
  const items = rows.map(
    ({ id, proposal }): Item => ({
      id: `proposal ${id}`,
      subject: { kind: 'thread', id },
      amount: null,
      since: proposal?.proposed_at ?? null,
      due: proposal?.expires_at ?? null,
      sentence: 'A provider proposed a price: accept or decline it.',
      fix: `souk threads view ${id}`,
    }),
  )
  return { kind: 'proposal', items, count }
}

/** The caller's subscriptions whose renewal exceeded the balance. */
async function pastDue(reading: Reading): Promise<OwnItems> {
  const slice = { parties: subscriptionParties, of: subscriptions, role: 'buyer', status: 'past_due' } as const
  const { rows, count } = await ownRows(reading, slice)
  const items = rows.map(async (row): Promise<Item> => {
    const plan = await reading.t.table(plans).get(row.plan_id)
    return {
      id: `past_due ${row.id}`,
      subject: { kind: 'subscription', id: row.id },
      amount: null,
      since: row.current_period_end,
      due: row.next_event_at,
      sentence: `The renewal of "${plan?.name ?? row.plan_id}" failed: your balance does not cover it.`,
      fix: `souk subs view ${row.id}`,
    }
  })
  return { kind: 'past_due', items: await Promise.all(items), count }
}

async function undelivered({ t, me }: Reading): Promise<OwnItems> {
  const prefix = [me.id, 'dead'] as const
  const { rows } = await t.table(deliveries).page('own_state', [...prefix], { limit: MAX_OF_A_KIND })
  const items = rows.map(
    (row): Item => ({
      id: `delivery ${row.id}`,
      subject: { kind: 'delivery', id: row.id },
      amount: null,
      since: row.at,
      due: null,
      sentence: `Webhook message ${row.type} to your endpoint failed after ${row.tries} ${row.tries === 1 ? 'try' : 'tries'}: ${row.reason ?? 'no answer'}.`,
      fix: `souk webhooks view ${row.id}`,
    }),
  )
  return { kind: 'delivery', items, count: await t.table(deliveries).count('own_state', [...prefix]) }
}

async function endpoints({ t, me }: Reading): Promise<OwnItems> {
  const { rows } = await t.table(services).page('provider', [me.id, 'active'], { limit: MAX_OWN_LISTINGS })
  const failing = rows.filter((one) => one.webhook_status === 'failing')
  const items = failing.slice(0, MAX_OF_A_KIND).map(
    (one): Item => ({
      id: `endpoint ${one.id}`,
      subject: { kind: 'service', id: one.id },
      amount: null,
      since: null,
      due: null,
      sentence: `The endpoint of "${one.name}" does not answer.`,
      fix: `souk services test ${one.id}`,
    }),
  )
  return { kind: 'endpoint', items, count: failing.length }
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
