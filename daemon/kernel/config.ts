import { hostname } from 'node:os'
import type { Config } from '../../src/model/start.ts'

type Bound = Pick<Config, 'host' | 'tls'>
/** For each wildcard bind, the loopback address by which this machine reaches it. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Local address of a daemon, independent of its public URL. */
export function boundUrl({ host, tls }: Bound, port: number): string {
  if (!tls) return `http://${inUrl(host)}:${port}`
  return `https://${inUrl(LOOPBACK_OF[host] ?? host)}:${port}`
}

/** Names this process to other daemons and to operators. */
export const instanceLabel = (): string => `pid ${process.pid} on ${hostname()}`

/** Where other daemons reach this one. @param ownAddress - of this machine, for a daemon that listens on all */
export function answersUrl(
  { host, tls, advertise }: Bound & Pick<Config, 'advertise'>,
  port: number,
  ownAddress: string,
) {
  const at = advertise ?? `${inUrl(host in LOOPBACK_OF ? ownAddress : host)}:${port}`
  return `${tls ? 'https' : 'http'}://${at}`
}

export function ownUrl(config: Bound & Pick<Config, 'publicUrl'>, port: number): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/$/, '')
  return config.tls ? `https://${inUrl(config.tls.name)}:${port}` : boundUrl(config, port)
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
