import { type Compute, openCompute, type ThreadsChange } from '../features/compute/compute.ts'
import { openSchemas } from '../features/compute/schemas.ts'
import { firstPartyServices } from '../features/first-party/index.ts'
import type { JsonInput } from '../features/first-party/service.ts'
import { createDeliveries } from '../features/webhooks/worker.ts'
import type { Config } from '../kernel/config.ts'
import type { Context } from '../kernel/context.ts'
import { reachOf } from '../ports/web/address.ts'
import { openWeb, type PublicWeb, type WebOptions } from '../ports/web/web.ts'
import { deliveryHooks } from './delivery-hooks.ts'

/** How names resolve, and places to which the rules about addresses do not apply. */
export type WebChange = Partial<Pick<WebOptions, 'resolve' | 'exempt'>>

type Parts = Pick<Context, 'config' | 'store' | 'clock' | 'entropy' | 'log'> & {
  /** Port that the edge is bound to. */
  readonly port: () => number
  readonly change: {
    readonly web: WebChange | undefined
    readonly threads: ThreadsChange | undefined
  }
}

type Opened = Pick<Context, 'web' | 'deliveries' | 'firstParty' | 'compute' | 'schemas'>

/** All that leaves the daemon for places that others name goes through one fetcher. */
export function openOutgoing({ port, change, ...parts }: Parts): Opened {
  const { config, clock } = parts
  const web = openWeb({ ownPort: port, localWebhooks: isLocal(config), wall: clock.wall, ...change.web })
  const compute = openCompute(change.threads)
  const schemas = openSchemas(compute)
  return {
    web,
    compute,
    schemas,
    deliveries: createDeliveries({ ...parts, web, hooks: deliveryHooks({ store: parts.store, schemas }) }),
    firstParty: firstPartyOver(web, compute),
  }
}

/** The services as the daemon runs them: each with the web at hand, its work on a thread, in turn with everyone else's. */
function firstPartyOver(web: PublicWeb, compute: Compute): Context['firstParty'] {
  return (slug) => {
    const service = firstPartyServices.get(slug)
    return (
      service && {
        run: (input, signal, who = slug) =>
          service.run(input as JsonInput, signal, {
            // JSON as it was sent
            web,
            makeElsewhere: ({ source, signal: bounds }) =>
              compute.run('make', [slug, input as JsonInput, source], { who, signal: bounds }),
          }),
      }
    )
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
