import type { Config } from './config.ts'

type Bound = Pick<Config, 'host' | 'tls'>
/** They stand for every address: who is on this machine reaches them by its own. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Address of a daemon for who is on the same machine or network, whatever its public one is. */
export function boundUrl({ host, tls }: Bound, port: number): string {
  if (!tls) return `http://${inUrl(host)}:${port}`
  return `https://${inUrl(LOOPBACK_OF[host] ?? host)}:${port}`
}

/** What it tells others to reach it by. */
export function ownUrl(config: Bound & Pick<Config, 'publicUrl'>, port: number): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/$/, '')
  return config.tls ? `https://${inUrl(config.tls.name)}:${port}` : boundUrl(config, port)
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
