import type { WireAnswer } from '../api/index.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { dim, good } from './tones.ts'

export type Plan = WireAnswer<'getPlan'>

const periods = { monthly: 'month', annual: 'year' } as const

/** `$1.05 a month`. */
export function rate(amount: string, period: Plan['billing_period']): string {
  return `$${amount} a ${periods[period]}`
}

export const plan: Noun<Plan> = {
  name: 'plan',
  plural: 'plans',
  list: 'listAllPlans',
  none: 'no such plan',
  source: ['a seller creates one', 'souk plans create'],
  idOf: ({ plan_id }) => plan_id,
  nameOf: ({ name }) => name,
  stateOf: ({ status }) => (status === 'active' ? good('● offered') : dim('‖ not offered')),
  columns: [
    column.id('PLAN', ({ plan_id }) => plan_id),
    column.name('NAME', (plan) => plan.name),
    column.money('YOU PAY', ({ agent_price, billing_period }) => rate(agent_price, billing_period), {
      all: 'BUYER PAYS',
      plain: ({ agent_price }) => agent_price,
    }),
    column.count('SERVICES', ({ service_ids }) => service_ids.length, { drop: 3 }),
    column.word('PROVIDER', ({ provider_name, provider_id }) => provider_name || provider_id, { drop: 2 }),
    column.count('SUBSCRIBERS', ({ subscribers }) => subscribers, { drop: 1 }),
    column.age(({ created_at }) => created_at),
  ],
  facts: (plan) => [
    ['about', plan.description],
    ['price', `${rate(plan.agent_price, plan.billing_period)}; the provider gets $${plan.provider_net_price}`],
    ['provider', `${plan.provider_name}   ${plan.provider_id}`],
    ['subscribed', String(plan.subscribers)],
    ...plan.services.map(
      ({ service_id, name, status }) =>
        ['service', `${service_id}   ${name}${status === 'active' ? '' : `   ${status}`}`] as const,
    ),
  ],
  nextOf: ({ plan_id, status }) => (status === 'active' ? `souk plans subscribe ${plan_id}` : undefined),
}
