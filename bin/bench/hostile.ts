import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { x402Headers } from '../../src/api/endpoint/x402.ts'
import { compact } from '../../src/core/record.ts'
import { type Buyer, newBuyers, offerOf, type Priced, sign } from './buyer.ts'
import { type Child, type LoopDelay, launch } from './child.ts'
import { figure, type Measured } from './report.ts'

const ROUNDS = 3
const ROUND_MS = 5_000
const BUYERS = 8
const LOOP_P99_BUDGET_MS = 50
const SERVER_FAULT = 500
/** Largest text, page, schema and deliverable that are taken, or nearly so. */
const TEXT = '你好世界吗。'.repeat(8_000)
const PAGE_BYTES = 2 * 1024 * 1024
const SUBSCHEMAS = 490
const DELIVERABLE_CHARS = 8 * 1024 * 1024 - 1_024

const PAGES: readonly string[] = ['<b><i><p>a', '<p>你好世界吗。', '<div><table><a>'].map((part) =>
  part.repeat(Math.floor(PAGE_BYTES / Buffer.byteLength(part))),
)
const DELIVERABLES: readonly string[] = [
  JSON.stringify({ a: 'x'.repeat(DELIVERABLE_CHARS) }),
  `{"a":[${'0,'.repeat(DELIVERABLE_CHARS / 2)}0]}`,
].map((deliverables) => `{"status":"completed","deliverables":${deliverables}}`)

type Stage = { readonly daemon: Child; readonly site: string; readonly buyers: readonly Buyer[]; readonly job: string }
/** One hostile request; `turn` counts those before it. @returns its status */
type Assault = (stage: Stage, turn: number) => Promise<number>

type Lane = { readonly at: number; readonly send: Assault }

/** What strangers may send at its largest, by kind, and how many do so at once. */
const assaults: Readonly<Record<string, Lane>> = {
  summaries: { at: 2, send: (stage, turn) => buySummary(stage, { text: `${turn} ${TEXT}` }) },
  pages: { at: 2, send: (stage, turn) => buySummary(stage, { url: `${stage.site}/${turn}` }) },
  schemas: { at: 2, send: listAndRemove },
  deliverables: { at: 1, send: deliver },
}

const kinds = Object.keys(assaults)
const crowds: readonly (readonly [name: string, kinds: readonly string[]])[] = [
  ...kinds.map((kind) => [`the largest ${kind}`, [kind]] as const),
  ['all of these at once', kinds],
]

/** How the daemon goes on turning for everybody while strangers send it the costliest that it takes. */
export async function hostile(): Promise<readonly Measured[]> {
  const { server, port } = await openSite()
  const buyers = newBuyers(BUYERS)
  const daemon = await launch('serve-daemon.ts', { wallets: buyers.map(({ wallet }) => wallet), sitePort: port })
  try {
    const stage = { daemon, buyers, site: `http://site.test:${port}`, job: await openJob(daemon, buyers) }
    const measured: Measured[] = []
    for (const [name, together] of crowds) measured.push(await underCrowd(stage, name, together))
    return measured
  } finally {
    await daemon.stop()
    server.closeAllConnections()
    server.close()
  }
}

async function underCrowd(stage: Stage, name: string, together: readonly string[]): Promise<Measured> {
  const turns: LoopDelay[] = []
  let sent = ''
  while (turns.length < ROUNDS) {
    await stage.daemon.loop()
    sent = await assault(stage, together)
    turns.push(await stage.daemon.loop())
  }
  return {
    name: `event loop p99 under ${name}`,
    values: turns.map(({ p99 }) => p99),
    unit: 'ms',
    budget: { atMost: LOOP_P99_BUDGET_MS },
    detail: `longest turn ${turns.map(({ most }) => figure(most)).join(', ')} ms; ${sent}`,
  }
}

async function openSite(): Promise<{ server: Server; port: number }> {
  let asked = 0
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(PAGES[asked++ % PAGES.length])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

/** Sends what these kinds have for a round. @returns how often each was answered with which status */
async function assault(stage: Stage, together: readonly string[]): Promise<string> {
  const end = performance.now() + ROUND_MS
  const statuses = await Promise.all(
    together.map(async (kind) => {
      const { at: count, send } = assaults[kind] as Lane // a kind is a key of these
      const tally = new Map<number, number>()
      const lane = async (turn: number): Promise<void> => {
        const status = await send(stage, turn)
        tally.set(status, (tally.get(status) ?? 0) + 1)
        if (performance.now() < end) await lane(turn + count)
      }
      await Promise.all(Array.from({ length: count }, (_, turn) => lane(turn)))
      return `${kind} ${[...tally].map(([status, times]) => `${times}×${status}`).join(' ')}`
    }),
  )
  return statuses.join(', ')
}

async function buySummary({ daemon, buyers }: Stage, input: object): Promise<number> {
  const { url, summary = '' } = daemon.ready
  const body = JSON.stringify(input)
  return (await bought({ url, method: 'POST', path: `/v1/services/${summary}/purchase`, body }, buyers)).status
}

async function bought(priced: Priced, buyers: readonly Buyer[]): Promise<Response> {
  const buyer = buyers[Math.floor(Math.random() * buyers.length)] as Buyer // within bounds
  const payment = sign(buyer, await offerOf(priced))
  return drained(
    await fetch(`${priced.url}${priced.path}`, {
      method: priced.method,
      headers: { 'Content-Type': 'application/json', [x402Headers.paymentV2]: payment },
      ...compact({ body: priced.body }),
    }),
  )
}

/** Reads the body, so that its connection is free again; it can still be read from what is returned. */
async function drained(response: Response): Promise<Response> {
  return new Response(await response.arrayBuffer(), { status: response.status })
}

/** Nearly the most subschemas that a schema may have, other ones each time. */
const costlySchema = (seed: number) => ({
  type: 'object',
  properties: { a: { items: { anyOf: Array.from({ length: SUBSCHEMAS }, (_, n) => ({ const: `${seed}-${n}` })) } } },
})

async function listAndRemove({ daemon }: Stage, turn: number): Promise<number> {
  const listed = await asSeller(daemon, {
    method: 'POST',
    path: '/v1/services',
    body: listing({ input_schema: costlySchema(turn + Math.random()) }),
  })
  const { id } = (await listed.json()) as { id?: string }
  if (id !== undefined) await asSeller(daemon, { method: 'DELETE', path: `/v1/services/${id}` })
  return listed.status
}

function listing(more: object): string {
  return JSON.stringify({ name: 'Hostile', description: 'x', price: '0.50', fulfillment_type: 'human', ...more })
}

type Sent = { readonly method: string; readonly path: string; readonly body?: string | undefined }

async function asSeller({ ready }: Child, { method, path, body }: Sent): Promise<Response> {
  const headers = { 'X-API-Key': ready.sellerKey ?? '', 'Content-Type': 'application/json' }
  return drained(await fetch(`${ready.url}${path}`, { method, headers, ...compact({ body }) }))
}

/** A job whose schema refuses every deliverable, after it looked at all of it. */
async function openJob(daemon: Child, buyers: readonly Buyer[]): Promise<string> {
  const schema = { ...costlySchema(0), required: ['never'] }
  const listed = await asSeller(daemon, {
    method: 'POST',
    path: '/v1/services',
    body: listing({ deliverable_schema: schema }),
  })
  const { id } = (await listed.json()) as { id?: string }
  const path = `/v1/services/${id}/purchase`
  const answer = await bought({ url: daemon.ready.url, method: 'POST', path, body: '{"text":"a"}' }, buyers)
  const { job_id } = (await answer.json()) as { job_id?: string }
  if (job_id === undefined) throw new Error(`no job was opened: ${listed.status}, ${answer.status}`)
  return job_id
}

async function deliver({ daemon, job }: Stage, turn: number): Promise<number> {
  const { status } = await asSeller(daemon, {
    method: 'POST',
    path: `/v1/jobs/${job}/update`,
    body: DELIVERABLES[turn % DELIVERABLES.length],
  })
  if (status < 400 || status >= SERVER_FAULT) throw new Error(`a deliverable was answered with ${status}`)
  return status
}
