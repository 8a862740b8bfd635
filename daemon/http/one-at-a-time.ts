import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Pending = readonly [req: IncomingMessage, res: ServerResponse]

/**
 * Hands on the requests of a connection one after the other: each begins in a turn of its own, once the one before it
 * was answered. Node reads whatever a client pipelines at once, a thousand requests in one piece; while some of them
 * wait, nothing more is read.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  /** Requests that wait, of each connection that has one under way. */
  const waiting = new WeakMap<Socket, Pending[]>()

  function begin(socket: Socket, [req, res]: Pending): void {
    res.once('close', () => next(socket))
    void listener(req, res)
  }

  function next(socket: Socket): void {
    const queue = waiting.get(socket) ?? []
    const pending = queue.shift()
    if (pending === undefined) {
      waiting.delete(socket)
      return
    }
    if (queue.length === 0) socket.resume()
    setImmediate(() => {
      if (!socket.destroyed) begin(socket, pending)
    })
  }

  return (req, res) => {
    const queue = waiting.get(req.socket)
    if (queue === undefined) {
      waiting.set(req.socket, [])
      begin(req.socket, [req, res])
      return
    }
    queue.push([req, res])
    req.socket.pause()
  }
}
