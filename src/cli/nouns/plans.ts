import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { bold, cyan } from '../../text/text.ts'
import type { Io } from '../io.ts'
import type { Column } from '../output.ts'

export type Plan = WireAnswer<Api['getPlan']>

/** `$1.05 a month`. */
export function rate(amount: string, period: Plan['billing_period']): string {
  return `$${amount} a ${period === 'annual' ? 'year' : 'month'}`
}

export const planColumns: readonly Column<Plan>[] = [
  { title: 'PLAN', value: ({ plan_id }) => plan_id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  {
    title: 'YOU PAY',
    value: ({ agent_price, billing_period }) => rate(agent_price, billing_period),
    plain: ({ agent_price }) => agent_price,
    align: 'right',
  },
  { title: 'SERVICES', value: ({ service_ids }) => service_ids.length, align: 'right', drop: 3 },
  { title: 'PROVIDER', value: ({ provider_name }) => provider_name, drop: 2 },
  { title: 'SUBSCRIBERS', value: ({ subscribers }) => subscribers, align: 'right', drop: 1 },
]

export function showPlan(plan: Plan, io: Io): void {
  const { plan_id: id, name, status, description, agent_price, price, provider_net_price, billing_period } = plan
  io.line(`${bold(id)}   ${name}   ${status}`)
  if (description !== '') io.line(`  ${description}`)
  io.line(`  price     ${rate(agent_price, billing_period)}   (price $${price}, provider gets $${provider_net_price})`)
  io.line(`  provider  ${plan.provider_name}   ${plan.provider_id}   ${plan.subscribers} subscribed`)
  for (const { service_id, name: service, status: state } of plan.services) {
    io.line(`  service   ${service_id}   ${service}${state === 'active' ? '' : `   ${state}`}`)
  }
  if (status === 'active') io.note(`  next      ${cyan(io.hint(`souk plans subscribe ${id}`))}`)
}
