import { isLoopback } from '../../src/core/loopback.ts'
import type { World } from '../world.ts'

/** Names under which a loopback bind may always be addressed. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a `Host` header is the bound address or a configured one (decisions §3): others get 421. */
export function allowedHosts(world: World): (host: string | undefined) => boolean {
  const { config } = world
  const configured = new Set((config.hosts ?? []).map((host) => host.toLowerCase()))
  if (config.publicUrl) configured.add(new URL(config.publicUrl).host)
  let known: string | undefined
  return (header) => {
    if (header === known && header !== undefined) return true
    if (header === undefined || !isServed(header.toLowerCase())) return false
    known = header
    return true
  }

  function isServed(host: string): boolean {
    if (host === new URL(world.baseUrl()).host || configured.has(host)) return true
    const [name, port] = splitPort(host)
    return LOOPBACK_HOSTS.has(name) && isLoopback(config.host) && (port ?? '80') === String(world.port())
  }
}

function splitPort(host: string): [string, string | undefined] {
  const match = /^(.*?)(?::(\d+))?$/.exec(host)
  return [match?.[1] ?? host, match?.[2]]
}
