import { defineCall, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../src/cli/files/document.ts'
import { exampleOf, exampleOption } from '../src/cli/files/examples.ts'
import { listCommand, showNoun } from '../src/cli/nouns/lists.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import type { SentBody } from '../src/client/asked.ts'
import { formatAmount } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import { plan, plan as planNoun } from '../src/nouns/plans.ts'
import { subscription as subscriptionNoun } from '../src/nouns/subscriptions.ts'
import { bold, cyan, green } from '../src/text/text.ts'

/** Maximum number of the seller's listings named in the example of a plan. */
const EXAMPLE_SERVICES_MAX = 5

export const plansCreate = defineCommand({
  name: 'plans create',
  summary: 'create a subscription plan for your services',
  options: z.object({
    file: z.text({ short: 'f', description: `${DOCUMENT} of the plan, - for stdin`, value: 'file' }),
    example: exampleOption,
    name: z.text({ description: 'public name', value: 'name' }),
    price: z.text({ description: 'what you earn per period', value: 'usd' }),
    period: z.choice(['monthly', 'annual'], { description: 'length of a period (default: monthly)' }),
    service: z.list({ description: 'id of one of your listings', value: 'service' }),
    description: z.text({ description: 'description for subscribers', value: 'text' }),
  }),
  examples: [
    'souk plans create --example',
    'souk plans create --name Basic --price 5.00 --service svc_0123456789abcdef',
    'souk plans create --name Yearly --price 50.00 --period annual --service svc_0123456789abcdef --json',
  ],
  async run(context) {
    const { file, example, name, price, period, service, description } = context.options
    if (example) {
      // The example also works without an instance or account.
      const sold = service.length > 0 ? service : await activeListings(context.session).catch(() => [])
      const text = exampleOf('plan', sold.length === 0 ? {} : { service_ids: `[${sold.join(', ')}]` })
      return { example: text.trimEnd().split('\n') }
    }
    const given = file === undefined ? undefined : await readObjectFile(context.io, file, 'the plan')
    if (given === undefined && service.length === 0) throw usage('Give the listings of the plan: --service ID.')
    const body = {
      billing_period: 'monthly',
      ...given,
      ...compact({ name, price, billing_period: period, description }),
      ...(service.length === 0 ? {} : { service_ids: service }),
    }
    const session = await context.session()
    return session.call('createPlan', { body: unjudged<SentBody<'createPlan'>>(body) })
  },
  view(plan, io) {
    if ('example' in plan) for (const line of plan.example) io.line(line)
    else showNoun(planNoun, plan, io)
  },
})

async function activeListings(open: () => Promise<Session>): Promise<string[]> {
  const session = await open()
  const query = { mine: 'true' as const, limit: String(EXAMPLE_SERVICES_MAX) }
  const { services } = await session.call('getCatalog', { query, headers: await session.ownHeaders() })
  return services.filter(({ status }) => status === 'active').map(({ id }) => id)
}

export const plansDelete = defineCall({
  name: 'plans delete',
  summary: 'delete one of your plans',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  examples: ['souk plans delete plan_0123456789abcdef --yes', 'souk plans delete plan_0123456789abcdef --yes --json'],
  asks: 'deletePlan',
  confirms: ({ args }) => `Delete ${args.plan}? Its subscriptions end with their paid period.`,
  view: ({ plan_id: id }, io) => io.line(`${green('✓')} ${id} deleted; subscriptions end with their paid period`),
})

export const plansEdit = defineCall({
  name: 'plans edit',
  summary: 'change one of your plans',
  description:
    'A new price or period applies to new subscribers. New services apply to current subscribers from their next period.',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  options: z.object({
    name: z.text({ description: 'public name', value: 'name' }),
    price: z.text({ description: 'what you earn per period', value: 'usd' }),
    period: z.choice(['monthly', 'annual'], { description: 'length of a period' }),
    service: z.list({
      description: 'id of a listing in the plan (repeatable); replaces all current listings',
      value: 'service',
    }),
    description: z.text({ description: 'description for subscribers', value: 'text' }),
  }),
  examples: [
    'souk plans edit plan_0123456789abcdef --price 6.00',
    'souk plans edit plan_0123456789abcdef --name "Basic plus" --json',
  ],
  asks: 'updatePlan',
  asked(context) {
    const { name, price, period, service, description } = context.options
    const changes = compact({
      name,
      price,
      description,
      billing_period: period,
      service_ids: service.length === 0 ? undefined : service,
    })
    if (Object.keys(changes).length === 0) throw usage('Give at least one change, such as --price 6.00.')
    return { params: { id: context.args.plan }, body: changes }
  },
  view: (row, io) => showNoun(plan, row, io),
})

export const plansList = listCommand(plan, {
  name: 'plans list',
  summary: 'browse plans, newest first',
  list: 'listPlans',
  options: { provider: z.text({ description: 'only of this provider', value: 'participant' }) },
  examples: ['souk plans list', 'souk plans list --provider p_0123456789abcdef --json'],
})

export const plansSubscribe = defineCommand({
  name: 'plans subscribe',
  summary: 'subscribe to a plan: pay the first period, then use its services for free',
  pays: 'subscribe',
  description: 'Later periods are charged to your balance. Top it up with `souk balance deposit`.',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  examples: [
    'souk plans subscribe plan_0123456789abcdef',
    'souk plans subscribe plan_0123456789abcdef --pay x402 --json',
  ],
  async run(context) {
    const session = await context.session()
    const { answer, payment } = await pay(context, session, {
      endpoint: 'subscribe',
      asked: { params: { id: context.args.plan } },
      stated: ({ amount }) => amount,
    })
    const { method, payer, transaction, amount } = payment
    const paid = { method, amount: formatAmount(amount), payer, transaction }
    return { ...answer, paid }
  },
  view({ paid, ...subscription }, io) {
    const from = paid.method === 'balance' ? 'from balance' : 'by x402'
    io.line(`${green('✓')} paid ${bold(`$${paid.amount}`)} ${from}   receipt ${subscription.receipt_id}`)
    showNoun(subscriptionNoun, subscription, io)
    io.note(`  next      ${cyan(io.hint(`souk buy ${subscription.service_ids[0]}`))}`)
  },
})

export const plansView = defineCall({
  name: 'plans view',
  summary: 'show one plan: price, services, provider',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  examples: ['souk plans view plan_0123456789abcdef', 'souk plans view plan_0123456789abcdef --json'],
  asks: 'getPlan',
  view: (row, io) => showNoun(plan, row, io),
})
