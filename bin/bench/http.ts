import { type Child, launch } from './child.ts'
import { load, requestBytes } from './load.ts'
import { figure, type Measured, median, ratios } from './report.ts'

const ROUNDS = 7
const ROUND_MS = 1_000
const WARM_UP_MS = 2_000
const CONNECTIONS = 64
const PATH = '/v1/services/catalog?limit=20'
const BYTES_A_KILOBYTE = 1_024

type Rate = { readonly perSecond: number; readonly cpuMicros: number }

/** A finished catalog page of 20 listings against node:http that writes the same bytes. */
export async function http(): Promise<readonly Measured[]> {
  const ours = await launch('serve-daemon.ts', { wallets: [] })
  try {
    const page = Buffer.from(await (await fetch(`${ours.ready.url}${PATH}`)).arrayBuffer())
    const raw = await launch('serve-raw.ts', { base64: page.toString('base64') })
    try {
      return await compare({ ours, raw, page })
    } finally {
      await raw.stop()
    }
  } finally {
    await ours.stop()
  }
}

async function compare({ ours, raw, page }: { ours: Child; raw: Child; page: Buffer }): Promise<Measured[]> {
  for (const server of [raw, ours]) await rate(server, WARM_UP_MS)
  const rates: { raw: Rate; ours: Rate }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.push({ raw: await rate(raw, ROUND_MS), ours: await rate(ours, ROUND_MS) })
  }
  const [oursRate, rawRate] = [rates.map((pair) => pair.ours), rates.map((pair) => pair.raw)]
  const perSecond = (all: readonly Rate[]) => all.map((one) => one.perSecond)
  const cpu = (all: readonly Rate[]) => all.map((one) => one.cpuMicros)
  const size = `${figure(page.length / BYTES_A_KILOBYTE)} KB, ${CONNECTIONS} connections`
  return [
    {
      name: 'cached catalog page, requests/s / raw node:http with the same bytes',
      values: ratios(perSecond(oursRate), perSecond(rawRate)),
      budget: { atLeast: 0.8 },
      detail: `${size}: ${figure(median(perSecond(oursRate)))} / ${figure(median(perSecond(rawRate)))} requests/s`,
    },
    {
      name: 'the same by server CPU: raw / ours',
      values: ratios(cpu(rawRate), cpu(oursRate)),
      budget: { informs: true },
      detail: `${figure(median(cpu(rawRate)))} / ${figure(median(cpu(oursRate)))} µs a request`,
    },
  ]
}

async function rate(server: Child, durationMs: number): Promise<Rate> {
  const request = requestBytes({ url: server.ready.url, method: 'GET', path: PATH })
  const before = await server.cpuMicros()
  const end = performance.now() + durationMs
  const { answered, seconds, statuses } = await load({
    url: server.ready.url,
    connections: CONNECTIONS,
    next: () => (performance.now() < end ? request : undefined),
  })
  if (statuses.get(200) !== answered) throw new Error(`not every answer was 200: ${[...statuses].join(' ')}`)
  return { perSecond: answered / seconds, cpuMicros: ((await server.cpuMicros()) - before) / answered }
}
