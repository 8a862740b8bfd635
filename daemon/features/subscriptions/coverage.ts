import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { SaleTerms } from '../../../src/model/service.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { termsOf } from '../listings/versions.ts'
import { hasAccess } from './plan-view.ts'
import { coverage, plans, type SubscriptionRow, subscriptions } from './rows.ts'

/** Maximum subscriptions read for one buyer and one service, latest end first. */
const MAX_COVERING = 100
/** Maximum rows read for one subscription; more than any plan has services. */
const MAX_COVERED = 1_000

/**
 * Current rows of the services that the subscriber agreed to. Undefined if nothing may be charged: the plan or a
 * service is gone, or a service has another kind than agreed.
 */
export async function agreedBundle(t: ReadTx, row: SubscriptionRow): Promise<readonly ServiceRow[] | undefined> {
  const plan = await t.table(plans).get(row.plan_id)
  if (!plan || plan.status === 'deleted') return undefined
  const bundle = await t.table(services).getMany(row.service_ids)
  const isWhole = bundle.length === row.service_ids.length && bundle.every(({ status }) => status !== 'deleted')
  if (!isWhole || bundle.length === 0) return undefined
  const covered = await t.table(coverage).getMany(bundle.map(({ id }) => keyOf(row.id, id)))
  const agreed = new Map(covered.map(({ service_id, terms }) => [service_id, terms]))
  return bundle.every((service) => isOfKind(service, agreed.get(service.id))) ? bundle : undefined
}

function isOfKind(service: ServiceRow, agreed: SaleTerms | undefined): boolean {
  if (!agreed) return true
  return service.service_type === agreed.service_type && service.fulfillment_type === agreed.fulfillment_type
}

/** Current terms of each service, for a period that is charged now. */
export async function bundleNow(t: ReadTx, { service_ids }: SubscriptionRow): Promise<Bundle> {
  const rows = await t.table(services).getMany(service_ids)
  return new Map(rows.map((service) => [service.id, termsOf(service)]))
}

type Bundle = ReadonlyMap<string, SaleTerms>

function keyOf(subscriptionId: string, serviceId: string): string {
  return `${subscriptionId}:${serviceId}`
}

type CoverageQuery = { readonly wallet: Wallet; readonly serviceId: string; readonly now: number }

/** The subscription that covers a purchase, and the terms when its period was paid; an old row has no terms. */
export type Cover = { readonly subscription: SubscriptionRow; readonly terms: SaleTerms | undefined }

export async function coverOf(t: ReadTx, { wallet, serviceId, now }: CoverageQuery): Promise<Cover | undefined> {
  const { rows } = await t.table(coverage).page('own', [wallet, serviceId], { limit: MAX_COVERING })
  for (const { subscription_id: id, terms } of rows) {
    const subscription = await t.table(subscriptions).get(id)
    if (subscription && hasAccess(subscription, now)) return { subscription, terms }
  }
  return undefined
}

/** @throws AppError 409 for a service that subscribers have paid for in a running period (decisions §9) */
export async function refuseCovered(t: ReadTx, { id, now }: { id: string; now: number }, act: string): Promise<void> {
  const { rows } = await t.table(coverage).page('service', [id], { limit: 1 })
  const [last] = rows
  // After a platform pause, subscribers get the rest of their periods, so a period does not end during the pause.
  if (!last || last.until <= ((await readPlatform(t)).paused_at ?? now)) return
  const until = new Date(last.until).toISOString()
  throw new AppError('conflict', `Subscribers have paid for this service until ${until}: it cannot ${act} before then.`)
}

/** Extends coverage to the end of the subscription's new period; the covered terms stay as they were. */
export async function extendCoverage(t: Tx, { id, current_period_end: until }: SubscriptionRow): Promise<void> {
  const table = t.table(coverage)
  const { rows } = await table.page('subscription', [id], { limit: MAX_COVERED })
  for (const row of rows) {
    const held = await table.getForUpdate(row.id)
    if (held) await table.put({ ...held, until })
  }
}

/** Updates the coverage rows of a subscription that was just written: one row for each service. */
export async function followCoverage(t: Tx, subscription: SubscriptionRow, bundle: Bundle): Promise<void> {
  const { id, live, service_ids, buyer_wallet, current_period_end: until } = subscription
  const table = t.table(coverage)
  const covered = new Set(live ? service_ids : [])
  const { rows } = await table.page('subscription', [id], { limit: MAX_COVERED })
  for (const row of rows) if (!covered.has(row.service_id)) await table.delete(row.id)
  for (const service_id of covered) {
    const key = keyOf(id, service_id)
    const terms = bundle.get(service_id)
    await table.getForUpdate(key)
    await table.put({ id: key, subscription_id: id, service_id, buyer_wallet, until, ...(terms ? { terms } : {}) })
  }
}
