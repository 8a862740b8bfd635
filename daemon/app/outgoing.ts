import { type Compute, compute, openCompute, type ThreadsChange } from '../features/compute/compute.ts'
import { openSchemas, schemas } from '../features/compute/schemas.ts'
import { firstPartyServices } from '../features/first-party/index.ts'
import type { JsonInput } from '../features/first-party/service.ts'
import type { FirstParty } from '../features/jobs/first-party.ts'
import type { Config } from '../kernel/config.ts'
import type { Context } from '../kernel/context.ts'
import { installation } from '../kernel/identity.ts'
import { reachOf } from '../ports/web/address.ts'
import { openWeb, type PublicWeb, type Web, type WebOptions } from '../ports/web/web.ts'

/** How names resolve, and places to which the rules about addresses do not apply. */
export type WebChange = Partial<Pick<WebOptions, 'resolve' | 'exempt'>>

/** All that leaves the daemon for places that others name goes through one fetcher. */
export function webOf(ctx: Context, change: WebChange = {}): Web {
  const { config, clock } = ctx
  return openWeb({ ownPort: installation.of(ctx).port, localWebhooks: isLocal(config), wall: clock.wall, ...change })
}

/** Threads for work that a stranger can make costly, and the schemas that are checked there. */
export function openThreads(ctx: Context, change?: ThreadsChange): void {
  const threads = openCompute(change)
  compute.open(ctx, threads, threads.close)
  schemas.open(ctx, openSchemas(threads))
}

/** The services as the daemon runs them: each with the web at hand, its work on a thread, in turn with everyone else's. */
export function firstPartyOver(web: PublicWeb, threads: Compute): (slug: string) => FirstParty | undefined {
  return (slug) => {
    const service = firstPartyServices.get(slug)
    return (
      service && {
        run: (input, signal, who = slug) =>
          service.run(input as JsonInput, signal, {
            // JSON as it was sent
            web,
            makeElsewhere: ({ source, signal: bounds }) =>
              threads.run('make', [slug, input as JsonInput, source], { who, signal: bounds }),
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
