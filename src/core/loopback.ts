export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '')
  return plain === 'localhost' || plain === '::1' || plain.startsWith('127.')
}

const LOOPBACK_HOST = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/

/** Whether a URL is on this machine; `127.0.0.1.example.org` is not. */
export function staysHere(url: string | URL): boolean {
  return LOOPBACK_HOST.test(new URL(url).hostname)
}

/** Matches a colon without a port, as in `http://127.0.0.1:/hook`, which a URL parser takes for the default port. */
const EMPTY_PORT = /^\w+:[/\\]*[^/\\?#]*:(?:[/\\?#]|$)/

/** Parses an http or https URL; null for any other text, and for an empty port. */
export function httpUrl(text: string): URL | null {
  const url = EMPTY_PORT.test(text.trim()) ? null : URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}
