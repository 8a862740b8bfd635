/** Whether an address, as a socket or a configuration names it, never leaves this machine. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '')
  return plain === 'localhost' || plain === '::1' || plain.startsWith('127.')
}

const LOOPBACK_HOST = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/

/** The same of the address of a server, whose name somebody else may have chosen: `127.0.0.1.example.org` is elsewhere. */
export function staysHere(url: string | URL): boolean {
  return LOOPBACK_HOST.test(new URL(url).hostname)
}
