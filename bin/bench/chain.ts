import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startTestChain, type TestChain } from '../../daemon/ports/chain/evm/anvil/anvil.testkit.ts'
import { keptHistory } from '../../daemon/ports/chain/evm/anvil/process.ts'
import { x402Headers } from '../../src/api/endpoint/x402.ts'
import { isObject } from '../../src/core/json.ts'
import { at } from '../../src/core/record.ts'
import { type Buyer, newBuyers, offerOf, type Priced, sign, signedRequests } from './buyer.ts'
import { measureRestart } from './chain-restart.ts'
import { type Child, launch } from './child.ts'
import { load } from './load.ts'
import { figure, type Measured } from './report.ts'

const CROWD = 64
const BLOCK_S = 2
const MICROS_A_MILLISECOND = 1_000
const MILLISECONDS_A_SECOND = 1_000
const P95 = 0.95
const QR_BODY = JSON.stringify({ data: 'https://souk.example/a-page' })
const RICH = '0x56bc75e2d63100000'
const SHOP = '0x00000000000000000000000000000000000000a1'

/** Payments of a run: the slower who settles, the fewer; some seconds each, as a shorter one tells of chance. */
const payments = {
  alone: { 1: 120, 16: 240, 64: 512 },
  through: { 1: 120, 16: 960, 64: 1_920 },
  ours: { 1: 240, 16: 1_920, 64: 3_840 },
}
type Who = keyof typeof payments
/** Payments that are not measured: compiled code first. */
const WARM: Readonly<Record<Who, number>> = { alone: 120, through: 480, ours: 960 }
type Crowd = keyof (typeof payments)['ours']
/** Payments of each buyer where blocks take their time. */
const IN_BLOCKS = 3
/** Payments whose calls are counted, besides some of each buyer. */
const CALLS_OF = 32

type Subject = { readonly price: Priced; readonly busy: readonly Child[] }
type Stage = {
  readonly chain: TestChain
  readonly buyers: readonly Buyer[]
  readonly subjects: Readonly<Record<Who, Subject>>
}
type Run = {
  readonly paidPerSecond: number
  /** Of all that were offered. */
  readonly refused: number
  readonly cpuMs: number
  readonly gas: number
  readonly p95Ms: number
}

/**
 * Paid requests on a real EVM: the published server that settles by itself, the same server through our facilitator,
 * and ours with its queue inside; all processes share the machine.
 */
export async function chain(): Promise<readonly Measured[]> {
  const runs = await automine()
  const rest = await staged(async (stage, close) => {
    const calls = await callsPerPayment(stage, close)
    await interval(stage, BLOCK_S)
    const slow = await inBlocks(stage)
    await interval(stage, 0)
    return [...calls, ...slow, await measureRestart(stage.chain.url)]
  })
  return [...compared(runs), ...rest]
}

type Closing = (() => Promise<unknown>)[]

/** Runs with a young chain and servers that have just started, and ends all of them. */
async function staged<T>(run: (stage: Stage, close: Closing) => Promise<T>): Promise<T> {
  const close: Closing = []
  try {
    return await run(await open(close), close)
  } finally {
    for (const one of close.reverse()) await one()
  }
}

async function open(close: Closing): Promise<Stage> {
  const chain = await startTestChain(['--chain-id', '8453', ...keptHistory])
  close.push(chain.stop)
  const run = async (file: string, argument: unknown) => {
    const child = await launch(file, argument)
    close.push(child.stop)
    return child
  }
  const buyers = newBuyers(CROWD)
  const rpc = chain.url
  const ours = await run('serve-chain.ts', { wallets: buyers.map(({ wallet }) => wallet), rpc })
  const key = generatePrivateKey()
  await ask(rpc, 'anvil_setBalance', privateKeyToAccount(key).address, RICH)
  const peer = { asset: ours.ready['asset'], payTo: SHOP, rpc, key }
  const alone = await run('serve-settling.ts', peer)
  const through = await run('serve-settling.ts', { ...peer, facilitator: `${ours.ready.url}/facilitator` })
  const paidAt = ({ ready }: Child): Priced => ({ url: ready.url, method: 'GET', path: '/paid' })
  return {
    chain,
    buyers,
    subjects: {
      alone: { price: paidAt(alone), busy: [alone] },
      through: { price: paidAt(through), busy: [through, ours] },
      ours: { price: await jobAt(ours, at(buyers, 0)), busy: [ours] },
    },
  }
}

/** What costs least to do there: reading a job, which somebody has bought before. */
async function jobAt({ ready: { url, qr } }: Child, buyer: Buyer): Promise<Priced> {
  const purchase = { url, method: 'POST', path: `/v1/services/${qr}/purchase`, body: QR_BODY } as const
  const [header, json] = [x402Headers.paymentV2, { 'Content-Type': 'application/json' }]
  const headers = { ...json, [header]: sign(buyer, await offerOf(purchase)) }
  const answer = await fetch(`${url}${purchase.path}`, { method: 'POST', headers, body: QR_BODY })
  const bought: unknown = await answer.json()
  if (!isObject(bought) || !answer.ok) throw new Error(`a purchase was refused: ${JSON.stringify(bought)}`)
  return { url, method: 'GET', path: `/v1/jobs/${bought['job_id']}` }
}

async function ask(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer: unknown = await (await fetch(url, { method: 'POST', headers, body })).json()
  if (!isObject(answer) || answer['error']) throw new Error(`${method}: ${JSON.stringify(answer)}`)
  return answer['result']
}

async function interval({ chain }: Stage, seconds: number): Promise<void> {
  // Both replace the way of mining that was before.
  await ask(chain.url, 'evm_setIntervalMining', seconds)
  if (seconds === 0) await ask(chain.url, 'evm_setAutomine', true)
}

type Runs = Readonly<Record<Who, Readonly<Record<Crowd, Run>>>>
const crowds = [1, 16, 64] as const
const everybody = ['alone', 'through', 'ours'] as const

/** A chain for each crowd: the local node takes the longer over a block the more its token remembers. */
async function automine(): Promise<Runs> {
  const runs = { alone: {}, through: {}, ours: {} } as Record<Who, Record<Crowd, Run>> // filled below
  for (const crowd of crowds) {
    await staged(async (stage) => {
      for (const who of everybody) await pay(stage, who, { crowd: 16, count: WARM[who] })
      for (const who of everybody) runs[who][crowd] = await pay(stage, who, { crowd, count: payments[who][crowd] })
    })
  }
  return runs
}

type Paying = { readonly crowd: Crowd; readonly count: number }

async function pay({ chain, buyers, subjects }: Stage, who: Who, { crowd, count }: Paying): Promise<Run> {
  const { price, busy } = subjects[who]
  const ready = await signedRequests(price, buyers.slice(0, crowd), count)
  const cpu = async () => (await Promise.all(busy.map((child) => child.cpuMicros()))).reduce((sum, one) => sum + one, 0)
  const [used, first] = [await cpu(), await height(chain)]
  const { statuses, seconds, latencies } = await load({ url: price.url, connections: crowd, next: () => ready.pop() })
  const paid = statuses.get(200) ?? 0
  return {
    paidPerSecond: paid / seconds,
    refused: (count - paid) / count,
    cpuMs: ((await cpu()) - used) / MICROS_A_MILLISECOND / paid,
    gas: (await gasSince(chain, first)) / paid,
    p95Ms: latencies.toSorted((a, b) => a - b)[Math.ceil(P95 * latencies.length) - 1] ?? Number.NaN,
  }
}

async function height({ url }: TestChain): Promise<number> {
  return Number(await ask(url, 'eth_blockNumber'))
}

async function gasSince(chain: TestChain, first: number): Promise<number> {
  const last = await height(chain)
  let gas = 0
  for (let number = first + 1; number <= last; number += 1) {
    const block = await ask(chain.url, 'eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    if (isObject(block)) gas += Number(block['gasUsed'])
  }
  return gas
}

/** Ratios over the published server that settles by itself, and what is behind them. */
function compared({ alone, through, ours }: Runs): Measured[] {
  const text = (runs: Readonly<Record<Crowd, Run>>, crowd: Crowd) => {
    const { paidPerSecond, refused, cpuMs } = runs[crowd]
    return `${figure(paidPerSecond)}/s, ${figure(100 * refused)} % refused, ${figure(cpuMs)} ms CPU a paid request`
  }
  const faster = (name: string, runs: Runs['ours'], budgets: Readonly<Record<Crowd, number>>): Measured[] =>
    crowds.map((crowd) => ({
      name: `paid a second, ${name} / settling by itself, ${crowd} ${crowd === 1 ? 'buyer' : 'buyers'}`,
      values: [runs[crowd].paidPerSecond / alone[crowd].paidPerSecond],
      budget: { atLeast: budgets[crowd] },
      detail: `${text(runs, crowd)}; by itself ${text(alone, crowd)}`,
    }))
  const cheaper = (name: string, runs: Runs['ours'], atMost: number): Measured => ({
    name: `CPU of a paid request, ${name} / settling by itself, 16 buyers`,
    values: [runs[16].cpuMs / alone[16].cpuMs],
    budget: { atMost },
  })
  return [
    ...faster('@x402/express through our facilitator', through, { 1: 0.75, 16: 8, 64: 30 }),
    ...faster('ours', ours, { 1: 1.5, 16: 12, 64: 60 }),
    cheaper('through our facilitator', through, 1 / 8),
    cheaper('ours', ours, 1 / 20),
    {
      name: 'valid payments refused at 1, 16 and 64 buyers, ours and through us',
      values: [ours, through].flatMap((runs) => crowds.map((crowd) => runs[crowd].refused * 100)),
      unit: '%',
      budget: { atMost: 0 },
    },
    {
      name: 'gas of a payment, 16 buyers / one',
      values: [ours[16].gas / ours[1].gas],
      budget: { atMost: 0.65 },
      detail: `${figure(ours[16].gas)} / ${figure(ours[1].gas)}; 64 buyers ${figure(ours[64].gas)}`,
    },
  ]
}

/** Blocks that come when they come: all that wait go into the next one. */
async function inBlocks(stage: Stage): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const crowd of [16, 64] as const) {
    const runs = {} as Record<Who, Run> // filled below
    for (const who of everybody) runs[who] = await pay(stage, who, { crowd, count: IN_BLOCKS * crowd })
    const most = crowd / BLOCK_S
    const by = (who: Who) => `${figure(runs[who].paidPerSecond)}/s, ${figure(100 * runs[who].refused)} % refused`
    const detail = `ours ${by('ours')}; through us ${by('through')}; by itself ${by('alone')}`
    for (const who of ['through', 'ours'] as const) {
      const name = who === 'ours' ? who : 'through our facilitator'
      measured.push(
        {
          name: `blocks of ${BLOCK_S} s, ${crowd} buyers: paid a second, ${name} / as blocks allow`,
          values: [runs[who].paidPerSecond / most],
          budget: { atLeast: P95 },
          detail,
        },
        {
          name: `blocks of ${BLOCK_S} s, ${crowd} buyers: refused, ${name}`,
          values: [runs[who].refused * 100],
          unit: '%',
          budget: { atMost: 0 },
        },
      )
    }
    measured.push({
      name: `blocks of ${BLOCK_S} s, ${crowd} buyers: p95 of an answer, ours`,
      values: [runs.ours.p95Ms],
      unit: 'ms',
      budget: { atMost: 1.05 * BLOCK_S * MILLISECONDS_A_SECOND + 50 },
    })
  }
  return measured
}

/** A second daemon, whose questions to the node are counted on their way. */
async function callsPerPayment({ chain, buyers, ...stage }: Stage, close: Closing): Promise<Measured[]> {
  let calls = 0
  const proxy = createServer(async (req, res) => {
    const body = await buffer(req)
    calls += body.toString().split('"method"').length - 1
    const answer = await fetch(chain.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  close.push(async () => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const rpc = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const counted = await launch('serve-chain.ts', { wallets: buyers.map(({ wallet }) => wallet), rpc })
  close.push(counted.stop)
  const subjects = { ...stage.subjects, ours: { price: await jobAt(counted, at(buyers, 0)), busy: [counted] } }
  const measured: Measured[] = []
  for (const [crowd, atMost] of [
    [1, 7],
    [16, 2.5],
    [64, 1],
  ] as const) {
    const count = CALLS_OF + crowd * 8
    const before = calls
    await pay({ chain, buyers, subjects }, 'ours', { crowd, count })
    const perPayment = (calls - before) / count
    measured.push({
      name: `calls of the node a payment, ours, ${crowd} ${crowd === 1 ? 'buyer' : 'buyers'}`,
      values: [perPayment],
      unit: '',
      budget: { atMost },
    })
  }
  return measured
}
