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

/** Whether the body asks for what the cutover still allows. An unreadable body does not. */
async function isSpared({ spares }: Endpoint, exchange: Asking): Promise<boolean> {
  if (!spares) return false
  // The error is not needed: an unreadable body is refused with 410, like every body that is not spared.
  const body = await exchange.body().catch(() => undefined)
  if (typeof body !== 'object' || body === null) return false
  const told: Readonly<Record<string, unknown>> = { ...body }
  return Object.entries(spares).every(([name, value]) => told[name] === value)
}
