import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { x402Headers } from '../../src/api/endpoint/x402.ts'
import { memoryVariables } from '../../src/lifecycle/memory.ts'
import { type Buyer, newBuyers, offerOf, sign } from './buyer.ts'
import { type Child, launch } from './child.ts'
import { figure, type Measured, quantile } from './report.ts'

const PURCHASES = 100
const AT_ONCE = 3
const P99 = 0.99
/** The design's: of the event loop under the costliest work, and of a search. */
const LOOP_P99_MS = 50
const CATALOG_P99_MS = 50
const POLL_MS = 100
const POLLS = 1_200

type Order = { readonly slug: string; readonly id: string; readonly input: unknown }

/** How the daemon goes on turning while all functions are bought. */
export async function services(): Promise<readonly Measured[]> {
  const [buyer] = newBuyers(1) as [Buyer]
  const daemon = await launch('serve-services.ts', { wallets: [buyer.wallet] }, memoryVariables)
  try {
    const orders: readonly Order[] = JSON.parse(daemon.ready.orders ?? '[]')
    const queue = Array.from({ length: PURCHASES }, (_, at) => orders[at % orders.length] as Order) // within bounds
    await daemon.loop()
    const failed: string[] = []
    const lane = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const outcome = await outcomeOf(daemon, buyer, next)
        if (outcome !== 'answered') failed.push(outcome)
      }
    }
    const reads = await readWhile(daemon, Promise.all(Array.from({ length: AT_ONCE }, lane)))
    const loop = await daemon.loop()
    const while_ = `while ${PURCHASES} purchases of ${orders.length} functions run`
    return [
      {
        name: `catalog p99 from another thread than the buyers', ${while_}`,
        values: [quantile(reads, P99)],
        unit: 'ms',
        budget: { atMost: CATALOG_P99_MS },
        detail: `${reads.length} reads; not answered: ${failed.join(', ') || 'none'}`,
      },
      {
        name: `event loop p99 of the daemon, ${while_}`,
        values: [loop.p99],
        unit: 'ms',
        budget: { atMost: LOOP_P99_MS },
        detail: `longest turn ${figure(loop.most)} ms; the site of the test turns in the same loop`,
      },
    ]
  } finally {
    await daemon.stop()
  }
}

/** How long each read took while the work went on, milliseconds. */
async function readWhile({ ready }: Child, work: Promise<unknown>): Promise<readonly number[]> {
  const reader = new Worker(new URL('services.worker.ts', import.meta.url), { workerData: ready.url })
  const [[took]] = await Promise.all([once(reader, 'message'), work.finally(() => reader.postMessage('stop'))])
  return took
}

type JobAnswer = { readonly job_id?: string; readonly status?: string; readonly access_token?: string }

async function outcomeOf({ ready: { url } }: Child, buyer: Buyer, { slug, id, input }: Order): Promise<string> {
  const path = `/v1/services/${id}/purchase`
  const body = JSON.stringify(input)
  const payment = sign(buyer, await offerOf({ url, method: 'POST', path, body }))
  const headers = { 'Content-Type': 'application/json', [x402Headers.paymentV2]: payment }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  const bought = (await response.json()) as JobAnswer // as the contract has it
  if (response.status !== 200) return `${slug} ${response.status}`
  const status = bought.status === 'completed' ? 'completed' : await endOf(url, bought)
  return ['completed', 'verified', 'released'].includes(status) ? 'answered' : `${slug} ${status}`
}

async function endOf(url: string, { job_id, access_token }: JobAnswer): Promise<string> {
  const headers = { Authorization: `Bearer ${access_token}` }
  for (let poll = 0; poll < POLLS; poll += 1) {
    const { status = '' } = (await (await fetch(`${url}/v1/jobs/${job_id}`, { headers })).json()) as JobAnswer // the same
    if (!['created', 'dispatched', 'in_progress'].includes(status)) return status
    await delay(POLL_MS)
  }
  return 'never ended'
}
