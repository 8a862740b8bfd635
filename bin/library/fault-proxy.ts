import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestTo,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

/** What goes wrong with a request. */
export type Fault = {
  /** Begins the path that it is about; every path unless given. */
  readonly path?: string
  readonly method?: string
  /** Only requests that carry a signed payment. */
  readonly paid?: true
  /** Requests that it befalls; one unless given. */
  readonly times?: number
  /**
   * `refuse`: the connection breaks, and the market never hears of it. `lose`: the market does what was asked, and its
   * answer never comes. `hang`: the same, but the connection stays open. A number: answered with this status instead,
   * unheard by the market. `{ delayMs }`: done as asked, late.
   */
  readonly what: 'refuse' | 'lose' | 'hang' | number | { readonly delayMs: number }
}

export type FaultProxy = {
  readonly url: string
  /** Where requests go from now on. */
  lead(target: string): void
  befall(fault: Fault): void
  /** Faults that have not happened are forgotten. */
  clear(): void
  close(): Promise<void>
}

const PAYMENT_HEADERS = ['x-payment', 'payment-signature', 'x-balance-auth']

/** Stands before a market of tests: its address stays, whatever is started behind it, and things go wrong as told. */
export async function openFaultProxy(): Promise<FaultProxy> {
  let target: URL | undefined
  let faults: { fault: Fault; left: number }[] = []
  const server = createServer((request, response) => {
    const found = faults.find(({ fault, left }) => left > 0 && isAbout(fault, request))
    if (found) found.left -= 1
    handle({ request, response, target, what: found?.fault.what }).catch(() => request.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (url) => {
      target = new URL(url)
    },
    befall: (fault) => {
      faults.push({ fault, left: fault.times ?? 1 })
    },
    clear: () => {
      faults = []
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function isAbout({ path = '/', method, paid }: Fault, { url = '/', method: asked, headers }: IncomingMessage): boolean {
  if (!url.startsWith(path) || (method !== undefined && method !== asked)) return false
  return paid !== true || PAYMENT_HEADERS.some((name) => headers[name] !== undefined)
}

type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: URL | undefined
  readonly what: Fault['what'] | undefined
}

async function handle({ request, response, target, what }: Exchange): Promise<void> {
  if (what === 'refuse' || target === undefined) return void request.socket.destroy()
  if (typeof what === 'number') {
    const body = JSON.stringify({ error: 'a fault of the test', code: 'unavailable', message: 'a fault of the test' })
    return void response.writeHead(what, { 'content-type': 'application/json' }).end(body)
  }
  if (typeof what === 'object') await new Promise((done) => setTimeout(done, what.delayMs))
  const answer = await forwarded(request, target)
  if (what === 'lose' || what === 'hang') {
    // Read to its end: by then the market has done all of it.
    await answer.resume().toArray()
    return what === 'lose' ? void request.socket.destroy() : undefined
  }
  response.writeHead(answer.statusCode ?? 0, answer.headers)
  answer.pipe(response)
  response.once('close', () => answer.destroy())
}

/** Its own name goes along: the market knows this address as its own. */
function forwarded(request: IncomingMessage, target: URL): Promise<IncomingMessage> {
  const headers: OutgoingHttpHeaders = request.headers
  const onward = requestTo({
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: request.url,
    headers,
    agent: false,
  })
  return new Promise((resolve, reject) => {
    onward.once('response', resolve)
    onward.once('error', reject)
    request.once('close', () => {
      if (!request.complete) onward.destroy()
    })
    request.pipe(onward)
  })
}
