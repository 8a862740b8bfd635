import type { IncomingMessage } from 'node:http'
import { AppError } from '../../src/core/error.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import type { Config } from '../../src/model/start.ts'
import { boundUrl } from '../kernel/config.ts'
import { HOP_HEADER, isUnsigned, signedHop } from './hop.ts'

/** Host names that are always accepted if the daemon listens on loopback or on all addresses. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** Whether a request named this machine by a loopback name. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && LOOPBACK_HOSTS.has(splitPort(host)[0])
}

/** A test for `Host` headers. It accepts the bound address and configured ones (decisions §3). Others get 421. */
function allowedHosts(config: Config, port: () => number): (host: string | undefined) => boolean {
  const configured = new Set((config.hosts ?? []).map((host) => host.toLowerCase()))
  if (config.publicUrl) configured.add(new URL(config.publicUrl).hostname)
  if (config.tls) configured.add(config.tls.name)
  const isLocal = isLoopback(config.host) || EVERY_ADDRESS.has(config.host)
  let known: string | undefined
  return (header) => {
    if (header === known && header !== undefined) return true
    if (header === undefined || !isServed(header.toLowerCase())) return false
    known = header
    return true
  }

  function isServed(host: string): boolean {
    const [name, at] = splitPort(host)
    if (configured.has(host) || configured.has(name)) return true
    if (host === new URL(boundUrl(config, port())).host) return true
    return LOOPBACK_HOSTS.has(name) && isLocal && (at ?? '80') === String(port())
  }
}

/** A check of the `Host` header. A request that a front handed over was checked there, against the front's address. */
export function openHosts(config: Config, port: () => number): (req: IncomingMessage) => AppError | undefined {
  const isAllowed = allowedHosts(config, port)
  return (req) => {
    if (isUnsigned(req))
      return new AppError('invalid_request', `${HOP_HEADER}: only daemons of one marketplace send it.`)
    if (signedHop(req)) return undefined
    // Node reads the first `Host` header, a proxy perhaps the last (RFC 9112, 3.2).
    if (req.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1)
      return new AppError('invalid_request', 'Host: given twice; send one.')
    return isAllowed(req.headers.host)
      ? undefined
      : new AppError('misdirected', 'This host name is not served by this marketplace.')
  }
}

function splitPort(host: string): [string, string | undefined] {
  const match = /^(.*?)(?::(\d+))?$/.exec(host)
  return [match?.[1] ?? host, match?.[2]]
}
