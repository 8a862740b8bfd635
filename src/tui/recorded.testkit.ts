import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/* An instance as one cockpit saw it: what it was answered is remembered, and can be made to stand still. */

export type Recorded = {
  readonly url: string
  /** From now on each read is answered as it was the last time, and nothing more comes down the event stream. */
  readonly freeze: () => void
  /** The body that was last answered to a `GET` of this path; @throws Error where nobody asked. */
  readonly answer: (path: string) => unknown
  /** What came down the event stream, the oldest first. */
  readonly events: () => readonly unknown[]
  readonly close: () => Promise<void>
}

type Answered = { readonly status: number; readonly type: string; readonly body: Buffer }

/** Stands between a cockpit and an instance. */
export async function recorded(target: string): Promise<Recorded> {
  const answers = new Map<string, Answered>()
  let streamed = ''
  let isFrozen = false

  function pass(message: IncomingMessage, asked: IncomingMessage, response: ServerResponse): void {
    const type = message.headers['content-type'] ?? ''
    if (type.startsWith('text/event-stream')) {
      response.writeHead(message.statusCode ?? 0, { 'content-type': type })
      response.flushHeaders()
      message.setEncoding('utf8').on('data', (chunk: string) => {
        if (isFrozen) return
        streamed += chunk
        response.write(chunk)
      })
      message.on('close', () => response.end())
      return
    }
    const parts: Buffer[] = []
    message.on('data', (part: Buffer) => parts.push(part))
    message.on('end', () => {
      const answer = { status: message.statusCode ?? 0, type, body: Buffer.concat(parts) }
      const known = isFrozen ? answers.get(asked.url ?? '') : undefined
      if (asked.method === 'GET' && known === undefined) answers.set(asked.url ?? '', answer)
      send(response, known ?? answer)
    })
  }

  const server = createServer((asked, response) => {
    const known = isFrozen && asked.method === 'GET' ? answers.get(asked.url ?? '') : undefined
    if (known !== undefined) return send(response, known)
    const { method } = asked
    // The instance answers to its own name alone.
    const headers = { ...asked.headers, host: new URL(target).host }
    const sent = request(new URL(asked.url ?? '', target), { method, headers }, (message) =>
      pass(message, asked, response),
    )
    sent.on('error', () => response.destroy())
    response.on('close', () => sent.destroy())
    asked.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze() {
      isFrozen = true
    },
    answer(path) {
      const found = answers.get(path)
      if (found === undefined) throw new Error(`nobody asked for ${path}, only for\n${[...answers.keys()].join('\n')}`)
      return JSON.parse(found.body.toString())
    },
    events: () =>
      streamed.split('\n\n').flatMap((block) => {
        const data = /^event: .*\..*$/m.test(block) ? /^data: ?(.*)$/m.exec(block)?.[1] : undefined
        return data === undefined ? [] : [JSON.parse(data)]
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, { status, type, body }: Answered): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}
