import { type Child, launch } from './child.ts'
import { load, requestBytes } from './load.ts'
import { figure, type Measured, median, ratios } from './report.ts'

const ROUNDS = 7
const ROUND_MS = 1_000
const WARM_UP_MS = 2_000
const CONNECTIONS = 64
const PATH = '/v1/services/catalog?limit=20'
const BYTES_A_KILOBYTE = 1_024

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
  for (const server of [raw, ours]) await perSecond(server, WARM_UP_MS)
  const rates = { raw: [] as number[], ours: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.raw.push(await perSecond(raw, ROUND_MS))
    rates.ours.push(await perSecond(ours, ROUND_MS))
  }
  const size = `${figure(page.length / BYTES_A_KILOBYTE)} KB, ${CONNECTIONS} connections`
  return [
    {
      name: 'cached catalog page, requests/s / raw node:http with the same bytes',
      values: ratios(rates.ours, rates.raw),
      budget: { atLeast: 0.8 },
      detail: `${size}: ${figure(median(rates.ours))} / ${figure(median(rates.raw))} requests/s`,
    },
  ]
}

async function perSecond({ ready: { url } }: Child, durationMs: number): Promise<number> {
  const request = requestBytes({ url, method: 'GET', path: PATH })
  const end = performance.now() + durationMs
  const next = () => (performance.now() < end ? request : undefined)
  const { answered, seconds, statuses } = await load({ url, connections: CONNECTIONS, next })
  if (statuses.get(200) !== answered) throw new Error(`not every answer was 200: ${[...statuses].join(' ')}`)
  return answered / seconds
}
