import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from './exchange.ts'
import { LINGER_MS } from './limits.ts'

/**
 * An answer that comes before the end of its request would be lost if the connection were closed at
 * once: what still comes is read and thrown away, for a while.
 */
export function lingerFor(req: IncomingMessage, res: ServerResponse): void {
  if (!hasBody(req)) return
  res.once('finish', () => {
    if (req.complete) return
    req.resume()
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS)
    req.once('close', () => clearTimeout(timer))
  })
}
