import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'

/** The browser has exited, or it rejected the command. */
export class CdpError extends Error {
  override readonly name = 'CdpError'
  readonly isGone: boolean

  constructor(message: string, isGone = false) {
    super(message)
    this.isGone = isGone
  }
}

export type CdpParams = { readonly [name: string]: unknown }

/** Serialises a large text once for several commands, because each serialisation blocks for milliseconds. */
export const prepared = (value: string): Buffer => Buffer.from(JSON.stringify(value))

export type CdpListener = (params: CdpParams, session: string | undefined) => void

/** A DevTools connection. It uses a pipe, because pages could reach an open port. */
export type Cdp = {
  /** @throws CdpError when the browser rejects the command or has exited */
  readonly send: <T>(command: CdpCommand<T>) => Promise<T>
  readonly on: (event: string, listener: CdpListener) => void
  /** Ends the connection. All current and later commands fail with `why`. */
  readonly close: (why: string) => void
}

export type CdpCommand<T> = {
  readonly method: string
  readonly params?: CdpParams
  /** Session id of a target (default: the browser itself). */
  readonly session?: string | undefined
  readonly answer: z.ZodType<T>
}

/** Answer schema for commands without a result. */
export const Nothing = z.unknown()

/** Limit of one message; a large image is a single message. */
const MAX_MESSAGE_BYTES = 96 * 1024 * 1024
const END = 0

const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  sessionId: z.string().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})

type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: unknown) => void }

/** Opens a connection over the browser's file descriptors 3 (`to`) and 4 (`from`). Messages end with a zero byte. */
export function openCdp(to: Writable, from: Readable): Cdp {
  const waiting = new Map<number, Waiting>()
  const listeners = new Map<string, CdpListener[]>()
  let lastId = 0
  let gone: CdpError | undefined

  function close(why: string): void {
    gone ??= new CdpError(why, true)
    for (const { reject } of waiting.values()) reject(gone)
    waiting.clear()
  }

  function take(text: string): void {
    const message = Message.parse(JSON.parse(text))
    const { id, method, params = {}, sessionId } = message
    if (method !== undefined) for (const listener of listeners.get(method) ?? []) listener(params, sessionId)
    if (id !== undefined) settle(id, message)
  }

  function settle(id: number, { result, error }: z.output<typeof Message>): void {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error) asked?.reject(new CdpError(error.message))
    else asked?.resolve(result)
  }

  splitMessages(from, take, close)
  // A write error means that the browser has closed the pipe.
  to.on('error', () => close('The browser stopped.'))

  return {
    send: async ({ method, params = {}, session, answer }) => {
      if (gone) throw gone
      lastId += 1
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      waiting.set(lastId, { resolve, reject })
      to.cork()
      for (const part of messageOf({ id: lastId, method, sessionId: session }, params)) to.write(part)
      to.uncork()
      return answer.parse(await promise)
    },
    on: (event, listener) => {
      listeners.set(event, [...(listeners.get(event) ?? []), listener])
    },
    close,
  }
}

/** Serialises a message in pieces; values from `prepared` are written unchanged. */
function messageOf(head: CdpParams, params: CdpParams): readonly (string | Buffer)[] {
  const members = Object.entries(params).filter(([, value]) => value !== undefined)
  const pieces = members.flatMap(([name, value], index) => [
    `${index === 0 ? '' : ','}${JSON.stringify(name)}:`,
    Buffer.isBuffer(value) ? value : JSON.stringify(value),
  ])
  return [`${JSON.stringify(head).slice(0, -1)},"params":{`, ...pieces, '}}\0']
}

/** Splits the stream into messages; invalid data ends the connection. */
function splitMessages(from: Readable, take: (text: string) => void, giveUp: (why: string) => void): void {
  let parts: Buffer[] = []
  let size = 0
  from.on('data', (chunk: Buffer) => {
    let start = 0
    try {
      for (let end = chunk.indexOf(END); end >= 0; end = chunk.indexOf(END, start)) {
        take(Buffer.concat([...parts, chunk.subarray(start, end)]).toString('utf8'))
        parts = []
        size = 0
        start = end + 1
      }
    } catch (error) {
      giveUp(`The browser sent invalid data: ${error instanceof Error ? error.message : ''}`)
      return
    }
    parts.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > MAX_MESSAGE_BYTES) {
      from.destroy()
      giveUp('The browser sent more data than the limit.')
    }
  })
  from.on('error', () => giveUp('The browser stopped.'))
  from.on('close', () => giveUp('The browser stopped.'))
}
