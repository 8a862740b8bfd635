import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { isEnabled, replacementOf, statusOf } from '../../src/api/status.ts'
import { AppError } from '../../src/core/error.ts'
import { type Context, paused } from '../kernel/context.ts'
import { countShelved } from '../kernel/refusals.ts'
import type { Exchange } from './exchange.ts'

type Asking = Pick<Exchange, 'header' | 'body'>

/** Refuses an endpoint: 404 if not enabled, 410 if deferred (counted for health), 503 if paused (decisions §2). */
export async function refuseSwitchedOff(ctx: Context, endpoint: Endpoint, exchange: Asking): Promise<void> {
  const switches = ctx.switches.now()
  if (endpoint.servedWith && ctx.config[endpoint.servedWith] === undefined) {
    throw new AppError('not_found', `Not enabled: the operator enables it by starting with --${endpoint.servedWith}.`)
  }
  if (!isEnabled(endpoint, switches)) throw notEnabled()
  if (switches.checkoutV2 && endpoint.feature && !(await isSpared(endpoint, exchange))) {
    countShelved(ctx, endpoint.feature, exchange.header('User-Agent'))
    const { feature } = endpoint
    throw new AppError('deferred', sentenceOf(endpoint, feature), {
      extra: { feature, replacement: replacementOf(endpoint) },
    })
  }
  if (statusOf(endpoint, switches) === 'paused') throw paused(switches)
}

export function notEnabled(): AppError {
  return new AppError('not_found', 'This endpoint is not enabled.')
}

function sentenceOf(endpoint: Endpoint, feature: string): string {
  const instead = replacementOf(endpoint)
  const shelved = `${feature} is disabled during the checkout cutover; reads still work.`
  if (instead === null) return shelved
  const told = Object.entries(endpoint.spares ?? {}).map(([name, value]) => ` with ${name}: "${value}"`)
  return `${shelved} Use ${instead}${told.join('')}.`
}

/** Whether the cutover still allows what the body asks for; false if the body is unreadable. */
async function isSpared({ spares }: Endpoint, exchange: Asking): Promise<boolean> {
  if (!spares) return false
  // The read error is dropped: an unreadable body gets the same 410 as every body that the cutover does not allow.
  const body = await exchange.body().catch(() => undefined)
  if (typeof body !== 'object' || body === null) return false
  const told: Readonly<Record<string, unknown>> = { ...body }
  return Object.entries(spares).every(([name, value]) => told[name] === value)
}
