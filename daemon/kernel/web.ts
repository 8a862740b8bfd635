import { invalidField } from '../../src/core/error.ts'
import { reachOf } from '../ports/web/target.ts'
import { openWeb, type Web, type WebOptions } from '../ports/web/web.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { installation } from './identity.ts'
import { defineResource } from './resource.ts'

/** How names resolve and connections are made, and places to which the rules about addresses do not apply. */
export type WebChange = Partial<Pick<WebOptions, 'resolve' | 'build' | 'exempt'>>

/** Requests to places that others name; nothing else leaves for there. */
export const web = defineResource<Web>('web')

/** Opens the one fetcher. */
export function openWebOf(ctx: Context, change: WebChange = {}): void {
  const { config, clock } = ctx
  web.open(
    ctx,
    openWeb({ ownPort: installation.of(ctx).port, localWebhooks: isLocal(config), wall: clock.wall, ...change }),
  )
}

/** Only this machine can reach the marketplace: then, and only then, webhooks may lead to this machine (decisions §10). */
function isLocal({ host, publicUrl }: Config): boolean {
  const shown = publicUrl === undefined ? host : (URL.parse(publicUrl)?.hostname ?? '')
  return isLoopback(host) && isLoopback(shown)
}

const REACHED_BY_OTHERS =
  'leads to this machine, but other machines can reach this marketplace (--tls, --host or a public URL): use https to another address'

/** Refuses an endpoint that nothing would ever be sent to, when it is written. @throws AppError 400 */
export function refuseUnsendable({ config }: Context, url: string | null | undefined, at = ''): void {
  const host = url ? URL.parse(url)?.hostname : undefined
  if (host !== undefined && isLoopback(host) && !isLocal(config))
    throw invalidField(`${at}webhook_url`, REACHED_BY_OTHERS)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || reachOf(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
