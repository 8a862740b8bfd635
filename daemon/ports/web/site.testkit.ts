import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Resolve } from './connect.ts'
import { WebError, type WebFailure } from './error.ts'
import { openWeb, type Web, type WebOptions } from './web.ts'

export type Page = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}
export type Responder = (req: IncomingMessage, res: ServerResponse) => void
/** Pages by path; what is not in here is a 404. */
export type Pages = { [path: string]: Page | Responder | undefined }

/** A site on loopback, and a fetcher to which this one port is as good as the internet. */
export type Site = {
  readonly pages: Pages
  /** `METHOD path` of every request, in order. */
  readonly asked: string[]
  readonly port: number
  /** Absolute URL of a path under a host name of the site's choosing. */
  readonly at: (path: string, host?: string) => string
  readonly web: (options?: Partial<WebOptions>) => Web
  /** Forgets all pages and requests. */
  readonly clear: () => void
  readonly close: () => Promise<void>
}

const NO_PORT = 0
const toLoopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

/** With a key and a certificate, it speaks https. */
export async function openSite(
  pages: Pages = {},
  tls?: { readonly key: string; readonly cert: string },
): Promise<Site> {
  const asked: string[] = []
  const answer: Responder = (req, res) => {
    asked.push(`${req.method} ${req.url}`)
    const page = pages[(req.url ?? '/').replace(/\?.*$/, '')] ?? { status: 404, body: 'not here' }
    if (typeof page === 'function') page(req, res)
    else res.writeHead(page.status ?? 200, { 'content-type': 'text/html', ...page.headers }).end(page.body ?? '')
  }
  const server = tls ? createTlsServer(tls, answer) : createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const webs: Web[] = []
  return {
    pages,
    asked,
    port,
    at: (path, host = 'site.test') => `${tls ? 'https' : 'http'}://${host}:${port}${path}`,
    web: (options = {}) => {
      const web = openWeb({
        ownPort: () => NO_PORT,
        localWebhooks: false,
        wall: Date.now,
        resolve: toLoopback,
        exempt: (place) => place.port === port,
        ...options,
      })
      webs.push(web)
      return web
    },
    clear: () => {
      for (const path of Object.keys(pages)) delete pages[path]
      asked.length = 0
    },
    close: async () => {
      await Promise.all(webs.map((web) => web.close()))
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** How a request to the web failed, `none` when it did not. */
export async function failureOf(answer: Promise<unknown>): Promise<WebFailure | 'none'> {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error === undefined) return 'none'
  if (error instanceof WebError) return error.failure
  throw error
}
