import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assemble, type Players } from '../../fixtures/fuzz/cast.ts'
import { randomOf } from '../../fixtures/fuzz/random.ts'
import { contractSamples, type FuzzRequest, requestFor } from '../../fixtures/fuzz/request.ts'
import { createSender, type Sender } from '../../fixtures/fuzz/send.ts'
import { blownUp, jsonShapes, type Shape, textShapes } from '../../fixtures/hostile/shapes.ts'
import { sampled } from '../../fixtures/kit/depth.ts'
import { type Loop, openLoop } from '../../fixtures/kit/loop.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import { MAX_BODY_BYTES } from '../../src/core/limits.ts'

// @slow bodies of the largest size to every row

/* One request of the worst shape and the largest size holds up nobody else: every row, every field, every header. */

const SEED = 20_261_126
/** With the rest of a head, below the bound of all headers. */
const HEAD_BYTES = 12_000
/** Read by the edge or a gate before any row. */
const HEADERS = [
  'accept',
  'accept-encoding',
  'authorization',
  'content-type',
  'cookie',
  'idempotency-key',
  'if-none-match',
  'payment-signature',
  'range',
  'sign-in-with-x',
  'user-agent',
  'x-api-key',
  'x-balance-auth',
  'x-forwarded-for',
  'x-payment',
]

let market: Marketplace
let players: Players
let sender: Sender
let loop: Loop
beforeAll(async () => {
  market = await openMarketplace()
  players = await assemble(market, (await readFile(join(market.dir, 'admin.key'), 'utf8')).trim())
  sender = createSender(new URL(market.url()), 1)
  loop = openLoop()
})
afterAll(async () => {
  sender.close()
  await market.close()
})

const samples = contractSamples(SEED)

/** What the row takes as it is. */
function plainRequest(name: EndpointName): FuzzRequest {
  const own = samples[name] ?? { bodies: [], good: [], queries: [] }
  return requestFor(randomOf(SEED), { name, samples: own, cast: players.cast, isValid: true })
}

type Case = Shape & { readonly request: (shape: string) => FuzzRequest }

/** Every part of a request that a stranger writes, in every shape. */
function casesOf(name: EndpointName): Case[] {
  const plain = plainRequest(name)
  const json = plain.body && plain.headers['content-type']?.startsWith('application/json') ? plain.body : undefined
  const bytes = bodyBytesOf(api[name])
  const bodies = json ? [...jsonShapes(bytes), ...blownUp(JSON.parse(json.toString('utf8')), bytes, textShapes)] : []
  return [
    ...bodies.map((shape) => ({ ...shape, request: (text: string) => ({ ...plain, body: Buffer.from(text) }) })),
    ...inQuery(name, plain),
  ]
}

function bodyBytesOf({ body }: Endpoint): number {
  return body?.kind === 'json' ? (body.maxBodyBytes ?? MAX_BODY_BYTES) : MAX_BODY_BYTES
}

function inQuery(name: EndpointName, plain: FuzzRequest): Case[] {
  const { query, path }: Endpoint = api[name]
  const [bare = '', search = ''] = plain.path.split('?')
  const fields = Object.keys((query as { shape?: object } | undefined)?.shape ?? {})
  const segments = path.split('/').flatMap((segment, at) => (segment.startsWith(':') ? [at] : []))
  const inPath = (at: number) => (text: string) => ({
    ...plain,
    path: `${bare.split('/').with(at, text).join('/')}?${search}`,
  })
  const ofField = (field: string) => (text: string) => {
    const all = new URLSearchParams(search)
    all.delete(field)
    return { ...plain, path: `${bare}?${all}&${field}=${text}` }
  }
  return [...fields.map(ofField), ...segments.map(inPath)].flatMap((request, at) =>
    textShapes(HEAD_BYTES / 3).map(({ name: shape, text }) => ({
      name: `${[...fields, ...segments][at]} of ${shape}`,
      text: () =>
        encodeURIComponent(text().toWellFormed())
          .slice(0, HEAD_BYTES)
          .replace(/%[\dA-F]?$/, ''),
      request,
    })),
  )
}

/** The worst of some cases, by name; the others are nothing to tell. */
async function stalls(cases: readonly Case[]): Promise<string[]> {
  const found: string[] = []
  for (const { name, text, request } of cases) {
    const ready = request(text())
    const turn = await loop.longestTurn(() => sender.send(ready).catch(() => undefined))
    if (turn > loop.limitMs) found.push(`${name}: ${Math.round(turn)} ms`)
  }
  return found
}

test.for(endpointNames.map((name, at) => [name, at] as const))(
  '%s stands still for nobody, whatever is written into it',
  async ([name, at]) => {
    await sender.send(plainRequest(name)).catch(() => undefined)
    expect(await stalls(sampled(casesOf(name), 80, at))).toEqual([])
  },
)

test('no header makes the edge stand still', async () => {
  const plain = plainRequest('getCatalog')
  const cases = HEADERS.flatMap((header) =>
    [...textShapes(HEAD_BYTES), ...jsonShapes(HEAD_BYTES * 0.75).map(asBase64)].map(({ name, text }) => ({
      name: `${header} of ${name}`,
      text: () => text().replace(/[^\x20-\x7e]/g, 'x'),
      request: (value: string) => ({ ...plain, headers: { ...plain.headers, [header]: value } }),
    })),
  )
  expect(await stalls(sampled(cases, 10))).toEqual([])
})

function asBase64({ name, text }: Shape): Shape {
  return { name: `${name} in Base64`, text: () => Buffer.from(text()).toString('base64') }
}
