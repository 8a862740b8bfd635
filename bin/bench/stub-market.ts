import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import examples from '../../src/api/answer-examples.json' with { type: 'json' }
import { api } from '../../src/api/index.ts'
import { keysOf } from '../../src/core/record.ts'

const JOBS = 100_000
const PAGE = 20
const ENDPOINTS = 144

type Answers = ReadonlyMap<string, (url: URL) => unknown>

export type StubMarket = {
  readonly url: string
  readonly events: (perSecond: number) => void
  /** Sends so many events at once. Resolves when the connections have taken them. */
  readonly burst: (many: number) => Promise<void>
  readonly close: () => void
}

/** A marketplace that costs nothing: examples as answers, so many jobs, and events at any pace. */
export async function stubMarket(): Promise<StubMarket> {
  const streams = new Set<ServerResponse>()
  let timer: NodeJS.Timeout | undefined
  let cursor = 1
  const answers = answersOf()
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://stub')
    if (url.pathname === api.streamEvents.path) follow(req, res)
    else answer(req, res, url)
  })

  function follow(req: IncomingMessage, res: ServerResponse): void {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write(': here\n\n')
    streams.add(res)
    req.on('close', () => streams.delete(res))
  }

  function answer(req: IncomingMessage, res: ServerResponse, url: URL): void {
    const found = answers.get(`${req.method} ${url.pathname}`)
    const body = found?.(url) ?? { error: { code: 'not_found', message: 'There is no such row.', request_id: 'req_0' } }
    res.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }

  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    events(perSecond) {
      clearInterval(timer)
      if (perSecond === 0) return
      timer = setInterval(() => {
        const text = eventText(cursor++)
        for (const stream of streams) stream.write(text)
      }, 1_000 / perSecond)
    },
    async burst(many: number) {
      const text = Array.from({ length: many }, () => eventText(cursor++)).join('')
      await Promise.all([...streams].map((stream) => new Promise((told) => stream.write(text, told))))
    },
    close() {
      clearInterval(timer)
      for (const stream of streams) stream.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

function eventText(cursor: number): string {
  const id = `evt_${cursor.toString(16).padStart(16, '0')}`
  const subject = { kind: 'job', id: `job_${cursor.toString(16).padStart(16, '0')}` }
  const about = { service: 'Translation', buyer: 'Bot7', provider: 'Lingua', amount: '0.525', method: 'x402' }
  const event = { id, event_id: id, cursor, at: new Date().toISOString(), type: 'job.released', participant_id: null }
  return `id: ${cursor}\nevent: job.released\ndata: ${JSON.stringify({ ...event, subject, data: {}, about })}\n\n`
}

/** Examples by method and path; lists and reports of the size that a large marketplace has. */
function answersOf(): Answers {
  const known = new Map<string, (url: URL) => unknown>()
  const said: Readonly<Record<string, { readonly answer?: unknown }>> = examples
  for (const name of keysOf(api)) known.set(`${api[name].method} ${api[name].path}`, () => said[name]?.answer)
  const { endpoints, ...health } = examples.getHealth.answer
  const rows = Array.from({ length: ENDPOINTS }, (_, i) => ({
    ...endpoints[i % endpoints.length],
    path: `/v1/row/${i}`,
  }))
  const { timestamp: _, ...rest } = health
  known.set('GET /health', () => ({ ...rest, timestamp: Date.now(), status: 'ok', paused: false, endpoints: rows }))
  known.set(`GET ${api.listAllJobs.path}`, jobsOf)
  return known
}

function jobsOf({ searchParams }: URL): unknown {
  const [offset, limit] = [Number(searchParams.get('offset') ?? 0), Number(searchParams.get('limit') ?? PAGE)]
  const length = Math.max(0, Math.min(limit, JOBS - offset))
  const jobs = Array.from({ length }, (_, i) => jobOf(`job_${(offset + i + 1).toString(16).padStart(16, '0')}`))
  return { jobs, total: JOBS, limit, offset }
}

function jobOf(id: string): unknown {
  const [example] = examples.listAllJobs.answer.jobs
  return { ...example, id, job_id: id }
}
