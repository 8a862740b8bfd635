import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { member } from '../../../fixtures/kit/money.ts'
import { type Death, mortal, NEVER } from '../../../fixtures/kit/mortal.ts'
import type { Buyer } from '../../../fixtures/market/marketplace.ts'
import { CENT } from '../../../fixtures/payments/facilitated.ts'
import { type Facilitator, generations, openFacilitator, SHOP } from '../../../fixtures/payments/facilitator.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { isObject } from '../../../src/core/json.ts'
import { MAX_DOUBTS } from './hand.ts'
import { settlements } from './rows.ts'

// @slow random histories

/*
 * Whatever servers, buyers and the machine do, in whatever order: no success without moved money, and no moved money
 * without exactly one seller and requirement that its success belongs to.
 */

const RUNS = runs(20, 8)
const STEPS = 14
/** Longer than a history takes, on whatever machine. */
const WINDOW_SECONDS = 3_600
/** Calls that a settlement makes at most, those for its answer included. */
const CALLS = 6
/** The end of a connection is on its way to the server for about so long. */
const NOTICE_MS = 20

let at: Facilitator
let death: Death
let buyer: Buyer
/** Headers of two sellers. */
let sellers: readonly Record<string, string>[]
beforeAll(async () => {
  death = mortal()
  at = await openFacilitator(
    { publicUrl: 'https://souk.example.org', rules: { payTo: [SHOP] }, logLevel: 'error' },
    death.ports,
  )
  buyer = await at.market.buyer('500.00')
  const keys = [await member(at.market), await member(at.market)]
  sellers = keys.map(({ apiKey }) => ({ Authorization: `Bearer ${apiKey}` }))
})
afterAll(() => at.market.close())

/** Who asks, and for which of two resources: each pair is another owner of a success. */
const owner = fc.record({ seller: fc.constantFrom(0, 0, 0, 1), resource: fc.constantFrom(0, 0, 1) })
/** `which` counts back from the authorization signed last. */
const which = fc.constantFrom(0, 0, 0, 1, 2)
const acts = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('sign' as const), version: fc.constantFrom(...generations) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('settle' as const), which, by: owner }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('verify' as const), which, by: owner }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('both' as const), which, by: owner, and: owner }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('hang up' as const), which, by: owner }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('behind' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      which,
      by: owner,
      call: fc.nat(CALLS - 1),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
)
type Act = typeof acts extends fc.Arbitrary<infer A> ? A : never
type Owner = typeof owner extends fc.Arbitrary<infer A> ? A : never

const owners: readonly Owner[] = ([0, 1] as const).flatMap((seller) =>
  ([0, 1] as const).map((resource) => ({ seller, resource })),
)

type Signed = {
  readonly asked: Awaited<ReturnType<Facilitator['ask']>>
  readonly nonce: Hex
  /** Owners that were told of success, in this order. */
  readonly told: string[]
  crashes: number
  /** Moved by somebody else than the facilitator. */
  isBehind: boolean
}

let signed: Signed[] = []
const nameOf = ({ seller, resource }: Owner) => `${seller}/${resource}`

async function sign(version: 1 | 2): Promise<void> {
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + WINDOW_SECONDS)
  const asked = await at.ask(buyer, { version, change: { validBefore } })
  const nonce = asked.paymentPayload.payload.authorization['nonce'] as Hex
  signed.push({ asked, nonce, told: [], crashes: 0, isBehind: false })
}

function askedBy({ asked }: Signed, { resource }: Owner) {
  if (resource === 0) return asked
  const url = 'https://other.example/report'
  return asked.x402Version === 1
    ? { ...asked, paymentRequirements: { ...asked.paymentRequirements, resource: url } }
    : { ...asked, paymentPayload: { ...asked.paymentPayload, resource: { url } } }
}

async function settle(one: Signed, by: Owner): Promise<void> {
  const { status, body } = await at.settle(askedBy(one, by), sellers[by.seller])
  if (status === 200 && body.success) one.told.push(nameOf(by))
}

/** Sends a settlement, and is gone before the chain has said anything. */
async function hangUp(one: Signed, by: Owner): Promise<void> {
  const caller = new AbortController()
  death.meanwhile = async () => {
    caller.abort()
    await sleep(NOTICE_MS)
  }
  const sent = fetch(`${at.market.url()}/facilitator/settle`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...sellers[by.seller] },
    body: JSON.stringify(askedBy(one, by)),
    signal: caller.signal,
  }).then((answer) => answer.json())
  // Where the chain is not asked at all, it gets its answer.
  const body = await sent.catch(() => undefined)
  death.meanwhile = async () => undefined
  // An answer that had left whole before the end of the connection came was given, whoever read it.
  if ((isObject(body) && body['success'] === true) || (await isHandedOut(one))) one.told.push(nameOf(by))
}

/** Whether a success has left for somebody whom this test knows nothing of. */
async function isHandedOut({ nonce, told, crashes }: Signed): Promise<boolean> {
  const table = at.market.daemon.ctx.store.table(settlements)
  const row = async () => (await table.page('newest', [], { limit: 200 })).rows.find((one) => one.nonce === nonce)
  // A slow machine may see the end of the connection only after the answer: what it decides is waited for.
  const isDecided = async () => crashes > 0 || !['sent', 'handing'].includes((await row())?.state ?? 'refused')
  await expect.poll(isDecided).toBe(true)
  return told.length === 0 && (await row())?.state === 'handed'
}

/** Moves the money past the facilitator: whoever holds a signature may. */
async function behind(one: Signed): Promise<void> {
  const { chain } = at.market.daemon.ctx
  const { signature, authorization } = one.asked.paymentPayload.payload
  if (await movedOf(one)) return
  const window = { validAfter: 0n, validBefore: BigInt(authorization['validBefore'] ?? 0) }
  await chain.settle({ from: buyer.wallet, to: SHOP, value: CENT, ...window, nonce: one.nonce }, signature)
  one.isBehind = true
}

async function step(act: Act): Promise<void> {
  if (act.do === 'sign') return sign(act.version)
  if (act.do === 'restart') return at.market.restart()
  const one = signed.at(-1 - act.which)
  if (!one) return
  if (act.do === 'settle') return settle(one, act.by)
  if (act.do === 'both') return void (await Promise.all([settle(one, act.by), settle(one, act.and)]))
  if (act.do === 'hang up') return hangUp(one, act.by)
  if (act.do === 'behind') return behind(one)
  if (act.do === 'verify') return void (await at.verify(askedBy(one, act.by), sellers[act.by.seller]))
  // More deaths than it goes through cost the seller its answer.
  if (one.crashes === MAX_DOUBTS) return
  death.arm(act.call, act.when)
  await settle(one, act.by)
  one.crashes += 1
  await at.market.daemon.stop()
  death.arm(NEVER, 'before')
  await at.market.restart()
}

async function movedOf({ nonce }: Signed): Promise<boolean> {
  return (await at.chain().authorizationState(buyer.wallet, nonce)).used
}

/** What holds at any moment. */
async function soFar(one: Signed): Promise<void> {
  expect(new Set(one.told).size, 'two owners were told of one success').toBeLessThanOrEqual(1)
  expect(one.told.length, 'told again without a reason').toBeLessThanOrEqual(1 + one.crashes)
  if (one.told.length > 0) expect(await movedOf(one), 'success without moved money').toBe(true)
}

/** Each owner asks until it is told: moved money has exactly one. */
async function atTheEnd(one: Signed): Promise<void> {
  if (!(await movedOf(one))) return
  for (const by of owners) await settle(one, by)
  await soFar(one)
  if (!one.isBehind) expect(one.told.length, 'moved money that nobody is told of').toBeGreaterThan(0)
  const before = one.told.length
  for (const by of owners) await settle(one, by)
  expect(one.told.length, 'the success was sold a second time').toBe(before)
}

test('random histories: a success has its money, and moved money exactly one owner of its success', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: STEPS, size: 'max' }), async (history) => {
      signed = []
      const [shop, payer] = [await at.held(SHOP), await at.held(buyer.wallet)]
      await sign(1)
      for (const act of history) {
        await step(act)
        for (const one of signed) await soFar(one)
      }
      const table = at.market.daemon.ctx.store.table(settlements)
      await expect.poll(() => table.count('state', ['sent'])).toBe(0)
      for (const one of signed) await atTheEnd(one)
      const moved = await Promise.all(signed.map(movedOf))
      const sum = CENT * BigInt(moved.filter(Boolean).length)
      expect([await at.held(SHOP), await at.held(buyer.wallet)]).toEqual([shop + sum, payer - sum])
    }),
    { numRuns: RUNS },
  )
})
