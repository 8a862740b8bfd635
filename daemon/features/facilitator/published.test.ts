import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serversOf } from '../../../commands/facilitator.ts'
import { OUTSIDE, load as outside, PEERS } from '../../../fixtures/outside/load.ts'
import { CENT } from '../../../fixtures/payments/facilitated.ts'
import { type Facilitator, openFacilitator, SHOP } from '../../../fixtures/payments/facilitator.ts'
import type { Wallet } from '../../../src/core/hex.ts'

/* Published servers, unmodified, as `souk facilitator` prints them: run as they stand, paid by published buyers. */

let at: Facilitator
const running: { child: ChildProcess; dir: string }[] = []

beforeAll(async () => {
  at = await openFacilitator()
})
afterAll(async () => {
  for (const { child, dir } of running) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await rm(dir, { recursive: true, force: true })
  }
  await at.market.close()
})

type Package = keyof ReturnType<typeof serversOf>

/** Starts the printed server of a package over the packages of a folder. @returns what costs a cent there. */
async function started(name: Package, packages: string, payTo: Wallet): Promise<string> {
  const { body } = await at.market.admin('GET', '/dashboard/api/admin/facilitator')
  const dir = await mkdtemp(join(tmpdir(), 'souk-peer-'))
  await symlink(packages, join(dir, 'node_modules'))
  await writeFile(join(dir, 'server.mjs'), serversOf(body)[name])
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, PAY_TO: payTo, PORT: '0' }
  const child = spawn(process.execPath, ['server.mjs'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] })
  running.push({ child, dir })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^(http\S+) costs one cent$/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('the server ended before it listened')
}

describe('@x402/express 2.27, as it is printed', () => {
  let url: string
  beforeAll(async () => {
    url = await started('@x402/express', OUTSIDE, SHOP)
  })

  test('is paid through the facilitator by a published buyer, and the money moves once', async () => {
    const before = await at.held(SHOP)
    const buyer = await at.market.buyer('1.00')
    const answer = await buyer.fetch(2)(url)
    expect([answer.status, await answer.json()]).toEqual([200, { hello: 'paid' }])
    const settled = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString())
    expect(settled).toMatchObject({ success: true, network: 'eip155:8453' })
    expect(await at.held(SHOP)).toBe(before + CENT)
  })

  test('the same header 8 times at once, and later: exactly one 200, the money moves once', async () => {
    const before = await at.held(SHOP)
    const header = await paidHeader(url)
    const get = async () => (await fetch(url, { headers: { 'PAYMENT-SIGNATURE': header } })).status
    const statuses = await Promise.all([...Array(8)].map(get))
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(402)])
    expect(await get()).toBe(402)
    expect(await at.held(SHOP)).toBe(before + CENT)
  })

  test('two servers with one header: one of them serves it', async () => {
    const other = await started('@x402/express', OUTSIDE, SHOP)
    const before = await at.held(SHOP)
    const header = await paidHeader(url)
    const answers = await Promise.all(
      [url, other].map((one) => fetch(one, { headers: { 'PAYMENT-SIGNATURE': header } })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 402])
    expect(await at.held(SHOP)).toBe(before + CENT)
  })

  test('a wallet without money is a 402 with the word of its generation', async () => {
    const buyer = await at.market.buyer('0.001')
    const answer = await buyer.fetch(2)(url)
    expect(answer.status).toBe(402)
    const required = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString())
    expect(required.error).toBe('invalid_exact_evm_insufficient_balance')
  })
})

/** A payment header that a published buyer signed, before its server has seen it. */
async function paidHeader(url: string): Promise<string> {
  const buyer = await at.market.buyer('1.00')
  const required = JSON.parse(
    Buffer.from((await fetch(url)).headers.get('payment-required') ?? '', 'base64').toString(),
  )
  const asked = await at.ask(buyer, { version: 2, payTo: SHOP })
  const { payload } = asked.paymentPayload
  const [accepted] = required.accepts
  return Buffer.from(JSON.stringify({ x402Version: 2, resource: required.resource, accepted, payload })).toString(
    'base64',
  )
}

describe('published clients of a facilitator', () => {
  test('read its kinds and its list, with a slash at the end of its address too', async () => {
    const { withBazaar } = await outside('@x402/extensions/bazaar')
    for (const end of ['', '/']) {
      const client = withBazaar(new HTTPFacilitatorClient({ url: `${at.market.url()}/facilitator${end}` }))
      const { kinds } = await client.getSupported()
      expect(
        kinds.map(({ x402Version, network }: { x402Version: number; network: string }) => [x402Version, network]),
      ).toEqual([
        [2, 'eip155:8453'],
        [1, 'base'],
      ])
      expect(await client.extensions.bazaar.listResources({ limit: 5 })).toMatchObject({ x402Version: 2, items: [] })
    }
  })

  test('verify and settle by their own types, and turn a key that nobody has into an error', async () => {
    const key = { Authorization: `Bearer sk_${'0'.repeat(40)}` }
    const url = `${at.market.url()}/facilitator`
    const [client, stranger] = [
      new HTTPFacilitatorClient({ url }),
      new HTTPFacilitatorClient({ url, createAuthHeaders: async () => ({ verify: key, settle: key, supported: key }) }),
    ]
    const { paymentPayload, paymentRequirements } = await at.ask(await at.market.buyer('1.00'))
    const given: Parameters<typeof client.verify> = JSON.parse(JSON.stringify([paymentPayload, paymentRequirements]))
    await expect(stranger.verify(...given)).rejects.toThrow('401')
    expect(await client.verify(...given)).toMatchObject({ isValid: true })
    expect(await client.settle(...given)).toMatchObject({ success: true, network: 'eip155:8453' })
    expect(await client.settle(...given)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
  })
})

describe('x402-express 1.2, as it is printed', () => {
  test('is paid through the facilitator by a published buyer', async () => {
    const url = await started('x402-express', PEERS, SHOP)
    const before = await at.held(SHOP)
    const buyer = await at.market.buyer('1.00')
    const answer = await buyer.fetch(1)(url)
    expect([answer.status, await answer.json()]).toEqual([200, { hello: 'paid' }])
    expect(await at.held(SHOP)).toBe(before + CENT)
  })
})
