/** Address of a daemon for who is on the same machine or network, whatever its public one is. */
export function boundUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
