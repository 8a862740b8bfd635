import type { ServerResponse } from 'node:http'
import { LINGER_MS } from './limits.ts'
import { hasBody } from './read-exchange.ts'

/**
 * Sends the whole body of an answer whose head has its length. One that comes before the end of its request
 * is lost if the connection is closed right behind it: the answer goes out at once, but it only ends when
 * what still comes was read and thrown away, or that took too long.
 */
export function endAnswer(res: ServerResponse, body: string | Buffer): void {
  const { req } = res
  if (req.complete || !hasBody(req)) {
    res.end(body)
    return
  }
  res.write(body)
  const timer = setTimeout(() => {
    res.end()
    req.socket.destroySoon()
  }, LINGER_MS)
  req.once('close', () => clearTimeout(timer))
  req.once('end', () => {
    clearTimeout(timer)
    res.end()
  })
  req.resume()
}
