import type { Endpoint } from './endpoint/define.ts'

export type Switches = {
  readonly paused: boolean
  readonly checkoutV2: boolean
  /** Switched-off endpoints that were enabled, by their switch name. */
  readonly enabled: ReadonlySet<string>
}

/** `METHOD /path` of what does the job of a shelved endpoint now, as the description writes it; null where nothing does. */
export function replacementOf({ replacement }: Endpoint): string | null {
  return replacement ?? null
}

export type Status = 'live' | 'paused' | 'deferred'

/** An endpoint's status is computed, never written (specification, Endpoint status labels). */
export function statusOf(endpoint: Endpoint, switches: Switches): Status {
  if (switches.checkoutV2 && endpoint.feature) return 'deferred'
  if (switches.paused && endpoint.access.kind === 'paid') return 'paused'
  return 'live'
}

/** Whether the endpoint is there at all: a built but switched-off endpoint answers 404. */
export function isEnabled(endpoint: Endpoint, switches: Switches): boolean {
  return endpoint.switch === undefined || switches.enabled.has(endpoint.switch)
}

/** Whether `/health.endpoints` lists the endpoint: the specification's own, never administration or our extensions. */
export function showsInHealth(endpoint: Endpoint, switches: Switches): boolean {
  return endpoint.origin !== 'ours' && endpoint.access.kind !== 'admin' && isEnabled(endpoint, switches)
}
