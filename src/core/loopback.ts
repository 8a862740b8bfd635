/** Whether an address, as a socket or a configuration names it, never leaves this machine. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '')
  return plain === 'localhost' || plain === '::1' || plain.startsWith('127.')
}
