import type { Endpoint } from '../../src/api/endpoint.ts'
import { isEnabled, REPLACEMENT, statusOf } from '../../src/api/status.ts'
import { AppError } from '../../src/core/error.ts'
import type { Exchange } from '../exchange.ts'
import { countShelved } from '../launch.ts'
import { paused } from '../paused.ts'
import type { World } from '../world.ts'

/** Not enabled 404, deferred 410 (counted for health), paused 503: the order of decisions §2. */
export function refuseSwitchedOff(world: World, row: Endpoint, exchange: Pick<Exchange, 'header'>): void {
  const flags = world.flags()
  if (!isEnabled(row, flags)) throw new AppError('not_found', 'This row is not enabled here.')
  if (flags.checkoutV2 && row.feature) {
    countShelved(world, row.feature, exchange.header('User-Agent'))
    throw new AppError('deferred', `${row.feature} is shelved under the checkout cutover; reads go on.`, {
      extra: { feature: row.feature, replacement: REPLACEMENT },
    })
  }
  if (statusOf(row, flags) === 'paused') throw paused(flags.pausedAt)
}
