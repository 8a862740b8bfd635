import { AppError } from '../../src/core/error.ts'
import type { Wallet } from '../../src/core/hex.ts'
import type { PlanRow } from '../../src/model/plan.ts'
import type { ServiceRow } from '../../src/model/service.ts'
import type { SubscriptionRow } from '../../src/model/subscription.ts'
import { hasAccess } from '../rules/subscription-next.ts'
import { coverage, services, subscriptions } from '../store/collections.ts'
import type { ReadTx, Tx } from '../store/port.ts'

/** Subscriptions of one buyer that name the same service, those that last longest first. */
const MAX_COVERING = 100
/** More than a plan has services. */
const MAX_COVERED = 1_000

/** What a period of a plan pays for: its services but those that were removed. */
export async function bundleOf(t: ReadTx, plan: PlanRow): Promise<readonly ServiceRow[]> {
  const rows = await t.table(services).getMany(plan.service_ids)
  return rows.filter((service) => service.status !== 'deleted')
}

type Asked = { readonly wallet: Wallet; readonly serviceId: string; readonly now: number }

/** The subscription under which a buyer has a service free of charge, or undefined. */
export async function coverOf(t: ReadTx, { wallet, serviceId, now }: Asked): Promise<SubscriptionRow | undefined> {
  const { rows } = await t.table(coverage).page('own', [wallet, serviceId], { limit: MAX_COVERING })
  for (const { subscription_id: id } of rows) {
    const subscription = await t.table(subscriptions).get(id)
    if (subscription && hasAccess(subscription, now)) return subscription
  }
  return undefined
}

/** @throws AppError 409 for a service that somebody has paid for and not yet had (decisions §9). */
export async function refuseCovered(t: ReadTx, serviceId: string, now: number): Promise<void> {
  const { rows } = await t.table(coverage).page('service', [serviceId], { limit: 1 })
  const [last] = rows
  if (!last || last.until <= now) return
  const until = new Date(last.until).toISOString()
  throw new AppError('conflict', `Subscribers have paid for this service until ${until}: it cannot be removed before.`)
}

/** Keeps what is looked up by service in step with a subscription that this transaction has written. */
export async function followCoverage(t: Tx, subscription: SubscriptionRow): Promise<void> {
  const { id, live, service_ids, buyer_wallet, current_period_end: until } = subscription
  const table = t.table(coverage)
  const covered = new Set(live ? service_ids : [])
  const { rows } = await table.page('subscription', [id], { limit: MAX_COVERED })
  for (const row of rows) if (!covered.has(row.service_id)) await table.delete(row.id)
  for (const service_id of covered) {
    const key = `${id}:${service_id}`
    await table.getForUpdate(key)
    await table.put({ id: key, subscription_id: id, service_id, buyer_wallet, until })
  }
}
