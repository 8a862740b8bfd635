import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Child, startChild } from '../../../fixtures/kit/child.ts'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import type { Side } from '../../../fixtures/kit/crash.ts'
import { type Calls, callsTo } from '../../../fixtures/market/marketplace.ts'
import { askFor, CENT, type ChainTold } from '../../../fixtures/payments/facilitated.ts'
import { SHOP } from '../../../fixtures/payments/facilitator.ts'
import { networks } from '../../../src/core/authorization.ts'
import { toWallet } from '../../../src/core/hex.ts'
import type { Config } from '../../../src/model/start.ts'
import { createDaemon } from '../../index.ts'

// @deep the process is killed at every durable step of a settlement

/** Rows and calls that a settlement makes durable, in this order; a further one would not be killed at. */
const STEPS = ['written down', 'chain asked', 'money moved', 'on its way', 'left whole'] as const
const SETTLE = '/facilitator/settle'
const FUNDS = 10_000_000n

type Life = Calls & { readonly child: Child; readonly url: string }
type Point = { readonly at: number; readonly when: Side }
/** Behind a step is before the next, but where the answer leaves between the two, and at the end. */
const points: readonly Point[] = [
  ...STEPS.map((_, at) => ({ at, when: 'before' as const })),
  { at: STEPS.indexOf('on its way'), when: 'after' },
  { at: STEPS.indexOf('left whole'), when: 'after' },
]

let config: Config
const lives: Child[] = []
const account = privateKeyToAccount(generatePrivateKey())

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-killed-'))
  const { seed: _, ...rest } = configDefaults
  config = { ...rest, dataDir }
})
afterAll(async () => {
  for (const child of lives) await child.kill()
  await rm(config.dataDir, { recursive: true, force: true })
})

async function live(point: Point): Promise<Life> {
  const child = startChild('../payments/mortal-facilitator.ts', { config, ...point })
  lives.push(child)
  const { url } = JSON.parse(await child.line())
  return { child, url, ...callsTo(() => url, config.dataDir) }
}

async function told({ admin }: Life): Promise<ChainTold> {
  const { network, caip2, asset } = (await admin('GET', '/dashboard/api/admin/facilitator')).body
  const { name, version, address } = asset
  const verifyingContract = toWallet(address)
  const { chainId } = networks[network as keyof typeof networks]
  return { network, caip2, asset, domain: { name, version, chainId, verifyingContract } }
}

/** What came back; undefined where the connection was lost. */
async function settle({ call }: Life, asked: unknown): Promise<{ success: boolean; errorReason?: string } | undefined> {
  return call('POST', SETTLE, { body: asked }).then(
    ({ body }) => body,
    () => undefined,
  )
}

const success = { success: true }
const duplicate = { success: false, errorReason: 'duplicate_settlement' }

test('killed at every durable step: the money moves once, and its success reaches the one who asks again', async () => {
  let life = await live(points[0] as Point)
  const facts = await told(life)
  await life.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: account.address, amount: '10.00' } })
  for (const [n, point] of points.entries()) {
    const name = `${point.when} ${STEPS[point.at]}`
    const asked = await askFor(facts, account, { version: 1, payTo: SHOP })
    const elsewhere = {
      ...asked,
      paymentRequirements: { ...asked.paymentRequirements, resource: 'https://other.example/' },
    }
    process.kill(life.child.pid, 'SIGUSR2')
    expect(await life.child.line()).toBe('armed')
    const first = await settle(life, asked)
    await expect(life.child.line(), `${name}: it lives on`).rejects.toThrow('ended')

    life = await live(points[n + 1] ?? { at: STEPS.length, when: 'after' })
    // Where nothing was written down, the authorization is anybody's still: then it is theirs alone.
    const isFree = point.at === 0 && point.when === 'before'
    expect(await settle(life, elsewhere), name).toMatchObject(isFree ? success : duplicate)
    // Who has been told that it was paid is told so again only where nobody knows that it was.
    const isOut = point.at === STEPS.length - 1 && point.when === 'after' && first?.success === true
    expect(await settle(life, asked), name).toMatchObject(isFree || isOut ? duplicate : success)
    for (const body of [asked, elsewhere]) expect(await settle(life, body), name).toMatchObject(duplicate)
  }
  await life.child.kill()
  const daemon = await createDaemon(config)
  try {
    expect(await daemon.ctx.chain.balanceOf(SHOP)).toBe(CENT * BigInt(points.length))
    expect(await daemon.ctx.chain.balanceOf(toWallet(account.address))).toBe(FUNDS - CENT * BigInt(points.length))
  } finally {
    await daemon.stop()
  }
})
