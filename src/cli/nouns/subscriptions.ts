import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { bold } from '../../text/text.ts'
import type { Io } from '../io.ts'
import type { Column } from '../output.ts'
import type { Session } from '../session.ts'
import { rate } from './plans.ts'

export type Subscription = WireAnswer<Api['getSubscription']>

export const subscriptionColumns: readonly Column<Subscription>[] = [
  { title: 'SUBSCRIPTION', value: ({ subscription_id }) => subscription_id },
  { title: 'PLAN', value: ({ plan_name }) => plan_name, flexible: true },
  { title: 'STATUS', value: statusText, plain: ({ status }) => status },
  {
    title: 'PRICE',
    value: ({ amount, billing_period }) => rate(amount, billing_period),
    plain: ({ amount }) => amount,
    align: 'right',
    drop: 2,
  },
  { title: 'UNTIL', value: ({ current_period_end }) => current_period_end },
  { title: 'NEXT CHARGE', value: ({ next_charge_at }) => next_charge_at, drop: 1 },
]

function statusText({ status, cancel_at_period_end }: Subscription): string {
  return cancel_at_period_end && (status === 'active' || status === 'paused') ? `${status}, ending` : status
}

export function showSubscription(row: Subscription, io: Io): void {
  io.line(`${bold(row.subscription_id)}   ${statusText(row)}   ${row.plan_name}   ${row.plan_id}`)
  io.line(`  price     ${rate(row.amount, row.billing_period)}   paid ${row.periods_paid} times`)
  io.line(`  period    ${row.current_period_start} to ${row.current_period_end}`)
  io.line(`  access    ${row.has_access ? 'its services are free of charge' : 'none: its services cost their price'}`)
  if (row.next_charge_at !== null) io.line(`  charge    ${row.next_charge_at}, from the balance`)
  if (row.failed_charges > 0) io.line(`  failed    ${row.failed_charges} charges; they are tried again for 3 days`)
  if (row.ended_at !== null) io.line(`  ended     ${row.ended_at}`)
}

type Act = 'pauseSubscription' | 'resumeSubscription'
/** Pauses or resumes a subscription of the caller's own. */
export async function act(
  session: Session,
  name: Act,
  { id, keep = false }: { id: string; keep?: boolean },
): Promise<Subscription> {
  return session.call(name, { params: { id }, ...(keep ? { body: { keep } } : {}) })
}
