import type { Config } from './config.ts'
import { deliveryHooks } from './delivery-hooks.ts'
import { reachOf } from './ports/address.ts'
import { openWeb, type WebOptions } from './ports/web.ts'
import { firstPartyOver } from './services/index.ts'
import { createDeliveries } from './webhooks/worker.ts'
import type { World } from './world.ts'

/** How names resolve, and places to which the rules about addresses do not apply. */
export type WebChange = Partial<Pick<WebOptions, 'resolve' | 'exempt'>>

type Parts = Pick<World, 'config' | 'store' | 'clock' | 'entropy' | 'log'> & {
  /** Port that the edge is bound to. */
  readonly port: () => number
  readonly change: WebChange | undefined
}

/** All that leaves the daemon for places that others name goes through one fetcher. */
export function openOutgoing({ port, change, ...parts }: Parts): Pick<World, 'web' | 'deliveries' | 'firstParty'> {
  const { config, clock } = parts
  const web = openWeb({ ownPort: port, localWebhooks: isLocal(config), wall: clock.wall, ...change })
  return {
    web,
    deliveries: createDeliveries({ ...parts, web, hooks: deliveryHooks }),
    firstParty: firstPartyOver(web),
  }
}

/** Only this machine can reach the marketplace: then, and only then, webhooks may lead to this machine (decisions §10). */
function isLocal({ host, publicUrl }: Config): boolean {
  const shown = publicUrl === undefined ? host : (URL.parse(publicUrl)?.hostname ?? '')
  return isLoopback(host) && isLoopback(shown)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || reachOf(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
