import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blownUp, jsonShapes, type Shape, textShapes } from '../../../fixtures/hostile/shapes.ts'
import { sampled } from '../../../fixtures/kit/depth.ts'
import { type Loop, openLoop } from '../../../fixtures/kit/loop.ts'
import { openFunctionWorld } from '../../../fixtures/market/function-world.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { engineBoard } from '../../engines/engines.ts'
import { firstPartyServices } from './index.ts'

// @slow every function is bought with the largest inputs, and of pages of the largest size

/* What a buyer writes, and what a page, a registry or an upstream answers, makes no function hold up the daemon. */

const MEGABYTE = 1024 * 1024
/** With the rest of the body, below the bound of bodies. */
const FIELD_BYTES = 240_000
const FUNDS = '900.00'
/** A page in each of them is read by another parser. */
const PAGE_TYPES = ['text/html', 'text/plain', 'text/markdown', 'application/json', 'text/css']

/** A program is started for each of these purchases: fewer of them. */
const programs: ReadonlySet<string> = new Set(['audio', 'browser', 'speech', 'translator'])
const FEWER = 20

let world: Awaited<ReturnType<typeof openFunctionWorld>>
let market: Marketplace
let key: string
let loop: Loop
let hosts = 0
let now = Date.now()
beforeAll(async () => {
  // Whatever is kept for a while is asked for anew, and nobody is left alone after failures.
  world = await openFunctionWorld({ wall: () => (now += 24 * 60 * MINUTE_MS) })
  Object.assign(world.site.pages, answers(world.site.at))
  const engines = { ...world.ports.engines }
  market = await openMarketplace({}, { ...world.ports, engines, threads: { unpaidMs: Number.MAX_SAFE_INTEGER } })
  await engineBoard.of(market.daemon.ctx).ready
  const buyer = await registered(market, { type: 'agent' })
  await market.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: buyer.account.address, amount: FUNDS } })
  await buyer.pay(`/v1/balance/deposit?amount=${FUNDS}`)
  key = buyer.key
  loop = openLoop()
})
afterAll(async () => {
  await market.close()
  await world.close()
})

const json = (value: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) })

/** Answers with something in every member, so that there is something to blow up. */
function answers(at: (path: string) => string) {
  const advisory = {
    id: 'GHSA-1',
    aliases: ['CVE-1'],
    summary: 'It leaks.',
    details: 'It leaks much.',
    published: '2026-01-01T00:00:00Z',
    severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
    affected: [
      {
        package: { name: 'pond', ecosystem: 'npm' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.0.1' }] }],
      },
    ],
    database_specific: { severity: 'HIGH' },
  }
  return {
    '/osv/v1/querybatch': json({ results: [{ vulns: [{ id: 'GHSA-1' }] }] }),
    '/osv/v1/vulns/GHSA-1': json(advisory),
    '/rdap.json': json({ services: [[['test', 'com'], [at('/rdap/')]]] }),
    '/rdap/domain/free.test': json({
      ldhName: 'free.test',
      status: ['active'],
      events: [{ eventAction: 'registration', eventDate: '2020-01-01T00:00:00Z' }],
      entities: [{ roles: ['registrar'], vcardArray: ['vcard', [['fn', {}, 'text', 'Ducks Inc']]] }],
      nameservers: [{ ldhName: 'ns1.site.test' }],
    }),
  }
}

/** Nothing is known of a host that was never met: its robots.txt is asked for. */
function plainInput(slug: string): string {
  hosts += 1
  const input = world.inputs[slug] ?? { data: 'hello' }
  return JSON.stringify(input).replaceAll('//site.test', `//h${hosts}.site.test`)
}

async function buy(slug: string, body: string): Promise<number> {
  const answer = await fetch(`${market.url()}/v1/services/${await market.serviceId(slug)}/purchase`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-balance-auth': key },
    body,
  })
  await answer.arrayBuffer()
  return answer.status
}

/** `prepare` makes the text, which takes time of its own, and returns what is watched. */
type Case = { readonly name: string; readonly prepare: () => () => Promise<unknown> }
type Field = { readonly type?: string; readonly maxLength?: number; readonly enum?: unknown }

/** Every field that holds more than a word, at the largest size that is taken. */
function inputCases(slug: string): Case[] {
  const { input_schema } = JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8'))
  return Object.entries(input_schema.properties as Record<string, Field>).flatMap(([name, field]) => {
    if (field.enum !== undefined) return []
    const bytes = Math.min(field.maxLength ?? FIELD_BYTES, FIELD_BYTES)
    const values: Shape[] =
      field.type === 'string'
        ? textShapes(bytes).map(({ name, text }) => ({ name, text: () => JSON.stringify(text().toWellFormed()) }))
        : [...jsonShapes(bytes), ...blownUp({ a: { b: 'c' }, d: ['e'] }, bytes, textShapes)]
    return values.map(({ name: shape, text }) => ({
      name: `${name} of ${shape}`,
      prepare: () => {
        const large = `${JSON.stringify(name)}:${text()}`
        return () => {
          const others = Object.entries(JSON.parse(plainInput(slug))).filter(([other]) => other !== name)
          const members = others.map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`)
          return buy(slug, `{${[...members, large].join()}}`)
        }
      },
    }))
  })
}

/** What the function asks for, wherever that is. */
async function askedBy(slug: string): Promise<string[]> {
  const before = world.site.asked.length
  expect(await buy(slug, plainInput(slug))).toBe(200)
  const paths = world.site.asked.slice(before).map((line) => line.replace(/^\S+ ([^?]*).*$/, '$1'))
  return [...new Set(paths)]
}

/** Every answer that it reads, of the largest size that any reader takes. */
function answerCases(slug: string, path: string): Case[] {
  const page = world.site.pages[path]
  const body = typeof page === 'object' && page.headers?.['content-type'] === 'application/json' ? page.body : undefined
  const shapes = body
    ? [...jsonShapes(MEGABYTE), ...blownUp(JSON.parse(String(body)), MEGABYTE, () => textShapes(MEGABYTE).slice(0, 3))]
    : textShapes(MEGABYTE)
  const types = body ? ['application/json'] : PAGE_TYPES
  return shapes.flatMap(({ name, text }, at) => ({
    name: `${path} of ${name}`,
    prepare: () => {
      // What a page begins with is what makes it one.
      const type = types[at % types.length] as string
      const start = type === 'text/html' ? '<!doctype html><title>Ducks</title><h1>API</h1><p>GET /v1/ducks</p>' : ''
      const large = { headers: { 'content-type': type }, body: Buffer.from(`${start}${text()}`) }
      return async () => {
        world.site.pages[path] = large
        try {
          await buy(slug, plainInput(slug))
        } finally {
          world.site.pages[path] = page
        }
      }
    },
  }))
}

async function stalls(cases: readonly Case[]): Promise<string[]> {
  const found: string[] = []
  for (const { name, prepare } of cases) {
    const turn = await loop.longestTurn(prepare())
    if (turn > loop.limitMs) found.push(`${name}: ${Math.round(turn)} ms`)
  }
  return found
}

test.for([...firstPartyServices.keys()].map((slug, at) => [slug, at] as const))(
  '%s holds up nobody, whatever it is given to read',
  async ([slug, at], { skip }) => {
    const service = firstPartyServices.get(slug)
    const lacks = service ? engineBoard.of(market.daemon.ctx).lacking(service.needs) : []
    skip(lacks.length > 0, `needs ${lacks.join(', ')}`)
    const paths = await askedBy(slug)
    const all = [...inputCases(slug), ...paths.flatMap((path) => answerCases(slug, path))]
    const starts = [...(service?.needs ?? []), ...(service?.wants ?? [])].some((name) => programs.has(name))
    const cases = starts ? all.filter((_, number) => number % FEWER === 0) : all
    expect(await stalls(sampled(cases, starts ? 10 : 120, at))).toEqual([])
  },
)
