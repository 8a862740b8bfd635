import { x402Headers } from '../../src/api/endpoint/x402.ts'
import { compact } from '../../src/core/record.ts'
import { type Buyer, newBuyers, offerOf, type Priced, sign, signedRequests } from './buyer.ts'
import { type Child, launch } from './child.ts'
import { load, requestBytes } from './load.ts'
import { figure, type Measured, median, ratios } from './report.ts'

const ROUNDS = 5
const BUYERS = 16
const CROWD = 64
const PAYMENTS_OF_EACH = 4
/** Requests of a round: the slower a server, the fewer. */
const COUNTS = { ours: 3_200, peer: 400, plain: 6_400, qr: 400 } as const
/** Rounds that are thrown away: ours is the most code, so the compiler takes longest to be done with it. */
const WARM_UP_ROUNDS = { ours: 5, peer: 3, plain: 3, qr: 3 } as const
const QR_BODY = JSON.stringify({ data: 'https://souk.example/a-page' })

type Subject = {
  readonly server: Child
  readonly count: number
  readonly warmUpRounds: number
  readonly requests: () => Promise<readonly Buffer[]>
}

type Started = {
  readonly children: Child[]
  readonly subjects: Readonly<Record<'ours' | 'qr' | 'peer' | 'peerRpc' | 'plain', Subject>>
  readonly crowd: readonly Buyer[]
  readonly prices: { readonly job: Priced; readonly qr: Priced }
}

/** Server CPU of a paid request, durable and booked, against the published x402 server that only verifies. */
export async function paid(): Promise<readonly Measured[]> {
  const children: Child[] = []
  try {
    const started = await start(children)
    return [...(await compare(started)), await refusedInCrowd(started)]
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

async function start(children: Child[]): Promise<Started> {
  const run = async (file: string, argument: unknown): Promise<Child> => {
    const child = await launch(file, argument)
    children.push(child)
    return child
  }
  const buyers = newBuyers(BUYERS)
  const crowd = newBuyers(CROWD)
  const wallets = [...buyers, ...crowd].map((buyer) => buyer.wallet)
  const ours = await run('serve-daemon.ts', { wallets })
  const second = await run('serve-daemon.ts', { wallets })
  const [qr, qrThere] = [qrPurchase(ours), qrPurchase(second)]
  const job: Priced = { ...at(ours), method: 'GET', path: `/v1/jobs/${await buyOne(qr, crowd[0])}` }
  const example = await payOnce(job, buyers[0])
  const { asset, payTo } = (await offerOf(job)).accepted
  const rpc = await run('serve-rpc.ts', { asset })
  const peer = await run('serve-peer.ts', { asset, payTo, answer: example.answer })
  const peerRpc = await run('serve-peer.ts', { asset, payTo, answer: example.answer, rpc: rpc.ready.url })
  const plain = await run('serve-express.ts', { answer: example.answer })
  const signed = (server: Child, price: Priced, kind: 'ours' | 'peer' | 'qr'): Subject => ({
    server,
    count: COUNTS[kind],
    warmUpRounds: WARM_UP_ROUNDS[kind],
    requests: () => signedRequests(price, buyers, COUNTS[kind]),
  })
  const posted = requestBytes({ ...at(plain), method: 'POST', path: '/plain', body: JSON.stringify(example) })
  return {
    children,
    crowd,
    prices: { job, qr },
    subjects: {
      ours: signed(ours, job, 'ours'),
      qr: signed(second, qrThere, 'qr'),
      peer: signed(peer, { ...at(peer), method: 'GET', path: '/paid' }, 'peer'),
      peerRpc: signed(peerRpc, { ...at(peerRpc), method: 'GET', path: '/paid' }, 'peer'),
      plain: {
        server: plain,
        count: COUNTS.plain,
        warmUpRounds: WARM_UP_ROUNDS.plain,
        requests: async () => new Array(COUNTS.plain).fill(posted),
      },
    },
  }
}

function at({ ready }: Child): { readonly url: string } {
  return { url: ready.url }
}

function qrPurchase(daemon: Child): Priced {
  return { ...at(daemon), method: 'POST', path: `/v1/services/${daemon.ready.qr}/purchase`, body: QR_BODY }
}

async function buyOne(priced: Priced, buyer: Buyer | undefined): Promise<string> {
  const { answer } = await payOnce(priced, buyer)
  return String((answer as { job_id: unknown }).job_id) // the purchase answer
}

/** One paid request as a client makes it: the header it needed and the answer it got. */
async function payOnce(priced: Priced, buyer: Buyer | undefined) {
  if (!buyer) throw new Error('there is no buyer')
  const { url, method, path, body } = priced
  const payment = sign(buyer, await offerOf(priced))
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { [x402Headers.paymentV2]: payment, 'Content-Type': 'application/json' },
    ...compact({ body }),
  })
  if (response.status !== 200) throw new Error(`${path} refused a payment: ${await response.text()}`)
  return { payment, answer: (await response.json()) as unknown }
}

async function compare({ subjects }: Started): Promise<Measured[]> {
  for (const subject of Object.values(subjects)) {
    for (let round = 0; round < subject.warmUpRounds; round += 1) await cpuOf(subject)
  }
  const cpu: Record<keyof typeof subjects, number[]> = { ours: [], qr: [], peer: [], peerRpc: [], plain: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, subject] of Object.entries(subjects)) {
      cpu[name as keyof typeof cpu].push(await cpuOf(subject)) // the keys of subjects
    }
  }
  const text = (values: readonly number[]) => figure(median(values))
  return [
    {
      name: 'server CPU of @x402/express (verify only, chain in memory) / ours, 16 buyers',
      values: ratios(cpu.peer, cpu.ours),
      budget: { atLeast: 4.5 },
      detail: `${text(cpu.peer)} / ${text(cpu.ours)} µs a paid GET /v1/jobs/{id}`,
    },
    {
      name: 'the same, its chain on a loopback JSON-RPC stub',
      values: ratios(cpu.peerRpc, cpu.ours),
      budget: { atLeast: 7 },
      detail: `${text(cpu.peerRpc)} / ${text(cpu.ours)} µs`,
    },
    {
      name: 'our server CPU of a paid request / plain Express POST of the same size',
      values: ratios(cpu.ours, cpu.plain),
      budget: { atMost: 6 },
      detail: `${text(cpu.ours)} / ${text(cpu.plain)} µs`,
    },
    {
      name: 'a QR purchase (input checked, code drawn, job and events) / our cheapest paid request',
      values: ratios(cpu.qr, cpu.ours),
      budget: { atMost: 2 },
      detail: `${text(cpu.qr)} / ${text(cpu.ours)} µs`,
    },
  ]
}

/** Server CPU a request, microseconds. */
async function cpuOf({ server, count, requests }: Subject): Promise<number> {
  const ready = [...(await requests())]
  const before = await server.cpuMicros()
  const { statuses } = await load({ url: server.ready.url, connections: BUYERS, next: () => ready.pop() })
  const used = (await server.cpuMicros()) - before
  if (statuses.get(200) !== count) throw new Error(`not every payment was taken: ${[...statuses].join(' ')}`)
  return used / count
}

/** Valid payments that 64 different buyers at once see refused. */
async function refusedInCrowd({ subjects, crowd, prices }: Started): Promise<Measured> {
  const { server } = subjects.ours
  const refused: number[] = []
  for (const price of [prices.job, prices.qr]) {
    const count = CROWD * PAYMENTS_OF_EACH
    const ready = await signedRequests(price, crowd, count)
    const { statuses } = await load({ url: server.ready.url, connections: CROWD, next: () => ready.pop() })
    refused.push(count - (statuses.get(200) ?? 0))
  }
  return {
    name: 'valid payments refused at 64 concurrent buyers',
    values: refused,
    unit: 'of 256',
    budget: { atMost: 0 },
    detail: 'GET /v1/jobs/{id}, then QR purchases',
  }
}
