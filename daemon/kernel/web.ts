import { invalidField } from '../../src/core/error.ts'
import type { Config } from '../../src/model/start.ts'
import { reachOf } from '../ports/web/target.ts'
import { openWeb, type Web, type WebOptions } from '../ports/web/web.ts'
import { type Context, defineResource } from './context.ts'
import { installation } from './identity.ts'

/** Changes to the HTTP client: its DNS, ports, trusted roots, or hosts exempt from the address rules. */
export type WebChange = Partial<Pick<WebOptions, 'resolve' | 'dialled' | 'ca' | 'exempt'>>

/** HTTP client for URLs that users choose. No other code sends requests to them. */
export const web = defineResource<Web>('web')

export function openWebOf(ctx: Context, change: WebChange = {}): void {
  const { config, clock } = ctx
  const ownPort = installation.of(ctx).port
  const opened = openWeb({ ownPort, localWebhooks: isLocal(config), wall: clock.wall, ...change })
  web.open(ctx, opened, opened.close)
}

/** Whether only this machine can reach the marketplace. Only then may webhooks lead to this machine (decisions §10). */
function isLocal({ host, publicUrl }: Config): boolean {
  const shown = publicUrl === undefined ? host : (URL.parse(publicUrl)?.hostname ?? '')
  return isLoopback(host) && isLoopback(shown)
}

const REACHED_BY_OTHERS =
  'must not point to this machine, because --tls, --host or a public URL opens this marketplace to other machines: use an https URL on another machine'

/** Refuses to store a webhook URL that this marketplace can never call. @throws AppError 400 */
export function refuseUnsendable({ config }: Context, url: string | null | undefined, at = ''): void {
  const host = url ? URL.parse(url)?.hostname : undefined
  if (host !== undefined && isLoopback(host) && !isLocal(config))
    throw invalidField(`${at}webhook_url`, REACHED_BY_OTHERS)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || reachOf(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
