import { z } from 'zod'
import { AppError } from '../../../src/core/error.ts'
import { amountOf, formatAmount } from '../../../src/core/money.ts'
import { billingPeriods, type PlanVersion } from '../../../src/model/service.ts'
import { providerOf } from '../../kernel/participant.ts'
import type { ReadTx } from '../../store/port.ts'
import { chosenOffer, stillGood, type Tender, windowAfter } from '../listings/quote-window.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { goodEdit, termsAsOf } from '../listings/versions.ts'
import type { PaymentRow } from '../payments/rows.ts'
import type { Quote } from '../payments/seller.ts'
import { planSplit } from './plan-view.ts'
import type { PlanRow } from './rows.ts'

/** Terms of a quote, stored in the payment row. */
const Terms = z.strictObject({
  net: z.string(),
  fee: z.string(),
  billing_period: z.enum(billingPeriods),
  /** Services of the bundle. `edits`: how often each was edited before its quoted version. Absent in old rows. */
  services: z.array(z.strictObject({ id: z.string(), edits: z.int() })).exactOptional(),
})

export function planVersion({ price, billing_period, service_ids }: PlanVersion): PlanVersion {
  return { price, billing_period, service_ids }
}

/** An edited plan, with its previous version. @throws AppError 409 for a second edit within the quote window */
export function editedPlan<P extends Omit<PlanRow, 'version'>>(held: PlanRow, changed: P, wall: number): P {
  const edit = { before: planVersion(held), after: planVersion(changed), previous: held.previous, wall }
  const previous = windowAfter(edit)
  return previous === undefined ? changed : { ...changed, previous }
}

type Asking = { readonly tender: Tender; readonly wall: number }

/** Price and bundle of a first period. @throws AppError 409 if a service of the bundle is unavailable */
export async function quotePlan(t: ReadTx, plan: PlanRow, { tender, wall }: Asking): Promise<Quote> {
  const provider = await providerOf(t, plan)
  const offerOf = (version: PlanVersion) => {
    const split = planSplit(version, provider)
    return { price: split.agent, settle: 'first', split, version } as const
  }
  const before = stillGood(plan.previous, wall)
  const today = offerOf(planVersion(plan))
  const { split, version } = chosenOffer({ before: before && offerOf(before), today }, tender) ?? today
  const bundle = await wholeBundle(t, version.service_ids)
  return {
    price: split.agent,
    settle: 'first',
    description: plan.name,
    terms: {
      net: formatAmount(split.net),
      fee: formatAmount(split.fee),
      billing_period: version.billing_period,
      services: bundle.map((service) => ({ id: service.id, edits: goodEdit(service, wall) })),
    },
  }
}

/** All services of a bundle, in order. @throws AppError 409 that names the first unavailable service */
async function wholeBundle(t: ReadTx, ids: readonly string[]): Promise<readonly ServiceRow[]> {
  const rows = new Map((await t.table(services).getMany(ids)).map((row) => [row.id, row]))
  return ids.map((id) => {
    const service = rows.get(id)
    if (service?.status === 'active') return service
    throw new AppError('conflict', `${id} of this plan is unavailable: new subscriptions are not possible now.`)
  })
}

export type PaidPeriod = Awaited<ReturnType<typeof paidPeriod>>

/** @throws AppError 409 if a paid service is no longer available; the payment is then refunded */
export async function paidPeriod(t: ReadTx, plan: PlanRow, { price, terms }: Pick<PaymentRow, 'price' | 'terms'>) {
  const quoted = Terms.parse(terms)
  const edits = new Map(quoted.services?.map((one) => [one.id, one.edits]))
  const bundle = await wholeBundle(t, quoted.services?.map(({ id }) => id) ?? plan.service_ids)
  return {
    split: {
      agent: price,
      net: amountOf(quoted.net),
      fee: amountOf(quoted.fee),
    },
    billingPeriod: quoted.billing_period,
    /** Services of the paid period, each with its quoted terms. */
    bundle: new Map(bundle.map((service) => [service.id, termsAsOf(service, edits.get(service.id))])),
  }
}
