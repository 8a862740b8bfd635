import type { Endpoint } from './endpoint/define.ts'

export type Switches = { readonly paused: boolean; readonly checkoutV2: boolean; readonly enabled: ReadonlySet<string> }

/** `METHOD /path` of a deferred endpoint's replacement; null if none. */
export function replacementOf({ replacement }: Endpoint): string | null {
  return replacement ?? null
}

export type Status = 'live' | 'paused' | 'deferred'

/** Status of an endpoint, computed and never stored (specification, Endpoint status labels). */
export function statusOf(endpoint: Endpoint, switches: Switches): Status {
  if (switches.checkoutV2 && endpoint.feature) return 'deferred'
  if (switches.paused && endpoint.access.kind === 'paid') return 'paused'
  return 'live'
}

export function isEnabled(endpoint: Endpoint, switches: Switches): boolean {
  return endpoint.switch === undefined || switches.enabled.has(endpoint.switch)
}

/** Whether `/health.endpoints` lists an endpoint. It omits administration, extensions and disabled endpoints. */
export function showsInHealth(endpoint: Endpoint, switches: Switches): boolean {
  return endpoint.origin !== 'ours' && endpoint.access.kind !== 'admin' && isEnabled(endpoint, switches)
}
