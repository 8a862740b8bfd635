import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accountAt, devAccounts, onTestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from './artifacts.testkit.ts'
import {
  type Action,
  AMOUNT,
  addressOf,
  after,
  argsOf,
  type Caller,
  callers,
  DAY,
  dealOf,
  deployEscrow,
  FEE,
  FUNDS,
  idOf,
  LONGEST_WAIT,
  moneyOf,
  NET,
  payTo,
  plainActs,
  refusalOf,
  stateNumber,
  termsOf,
  type World,
} from './escrow.testkit.ts'
import { signed } from './token.testkit.ts'

const stage = onTestChain(deployEscrow)
const everyone = Object.keys(callers) as Caller[]

async function attempt(caller: Caller, action: Action): Promise<string | undefined> {
  const { chain, escrow } = stage()
  const outcome = await chain.attempt({
    from: addressOf(caller),
    to: escrow,
    name: action.name,
    args: argsOf(action),
  })
  return outcome.ok ? undefined : outcome.error
}

async function start(): Promise<World> {
  return { paused: false, now: (await stage().chain.client.getBlock()).timestamp, deals: new Map() }
}

/** Does what the model allows and the contract must. */
async function done(world: World, caller: Caller, action: Action): Promise<World> {
  expect(await attempt(caller, action)).toBeUndefined()
  return after(world, action)
}

async function pass(world: World, seconds: bigint): Promise<World> {
  await stage().chain.client.increaseTime({ seconds: Number(seconds) })
  await stage().chain.client.mine({ blocks: 1 })
  return { ...world, now: world.now + seconds }
}

async function money() {
  const { chain, token, escrow } = stage()
  const [buyer, toPay, operator, held] = await Promise.all(
    [addressOf('buyer'), payTo, addressOf('operator'), escrow.address].map((account) =>
      chain.read(token, 'balanceOf', [account]),
    ),
  )
  return { buyer, payTo: toPay, operator, held }
}

/** A deal in each state that there is, some before their deadline and some after it. */
async function everyState(): Promise<World> {
  const endings: readonly [Caller, Action][] = [
    ['operator', { name: 'markDelivered', id: 'delivered' }],
    ['operator', { name: 'markDisputed', id: 'disputed' }],
    ['operator', { name: 'release', id: 'released' }],
    ['operator', { name: 'refund', id: 'refunded' }],
    ['operator', { name: 'resolve', id: 'split', toBuyer: 100_000n }],
    ['admin', { name: 'emergencyWithdraw', id: 'withdrawn' }],
    ['stranger', { name: 'claimTimeout', id: 'timed out' }],
  ]
  let world = await start()
  for (const id of ['early', 'late', ...endings.map(([, action]) => ('id' in action ? action.id : ''))]) {
    const deadline = world.now + (id === 'early' ? 100n : 2n) * DAY
    world = await done(world, 'operator', { name: 'deposit', id, deadline, toPayTo: false })
  }
  world = await pass(world, 5n * DAY)
  for (const [caller, action] of endings) world = await done(world, caller, action)
  return world
}

function everyAct(world: World, id: string): Action[] {
  return [
    { name: 'deposit', id, deadline: world.now + DAY, toPayTo: false },
    { name: 'deposit', id, deadline: world.now - DAY, toPayTo: false },
    { name: 'resolve', id, toBuyer: 1n },
    { name: 'resolve', id, toBuyer: AMOUNT + 1n },
    { name: 'extend', id, deadline: world.now + 150n * DAY },
    { name: 'extend', id, deadline: world.now - 4n * DAY },
    ...plainActs.map((name) => ({ name, id })),
  ]
}

test.each([false, true])('every state, act and caller ends as promised; paused: %s', async (paused) => {
  const { chain, escrow } = stage()
  let world = await everyState()
  if (paused) world = await done(world, 'pauser', { name: 'pause' })
  const ids = ['never seen', ...world.deals.keys()]
  const acts: Action[] = [...ids.flatMap((id) => everyAct(world, id)), { name: 'pause' }, { name: 'unpause' }]
  for (const caller of everyone) {
    const asked = acts.map((action) =>
      chain.refusal({ from: addressOf(caller), to: escrow, name: action.name, args: argsOf(action) }),
    )
    const got = await Promise.all(asked)
    const told = acts.map((action, at) => ({ caller, ...action, refused: got[at] }))
    expect(told).toEqual(acts.map((action) => ({ caller, ...action, refused: refusalOf(world, caller, action) })))
  }
})

const ids = fc.constantFrom('a', 'b')
const days = fc.integer({ min: -5, max: 200 }).filter((n) => n !== 0 && n !== 180)
type Step = (world: World) => Action | bigint
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(ids, days, fc.boolean()).map(
    ([id, ahead, toPayTo]): Step =>
      ({ now }) => ({ name: 'deposit', id, deadline: now + BigInt(ahead) * DAY + 43_200n, toPayTo }),
  ),
  fc.tuple(ids, fc.bigInt({ min: 0n, max: AMOUNT + 2n })).map(
    ([id, toBuyer]): Step =>
      () => ({ name: 'resolve', id, toBuyer }),
  ),
  fc.tuple(ids, days).map(
    ([id, ahead]): Step =>
      ({ now }) => ({ name: 'extend', id, deadline: now + BigInt(ahead) * DAY + 43_200n }),
  ),
  fc.tuple(ids, fc.constantFrom(...plainActs)).map(
    ([id, name]): Step =>
      () => ({ name, id }),
  ),
  fc.constantFrom('pause' as const, 'unpause' as const).map(
    (name): Step =>
      () => ({ name }),
  ),
  fc.integer({ min: 1, max: 30 }).map(
    (ahead): Step =>
      () =>
        BigInt(ahead) * DAY,
  ),
)
/** Mostly those who may, so that histories get somewhere. */
const speakers = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...everyone) },
)
const entitled = (action: Action): Caller => everyone.find((caller) => mayCall(caller, action)) ?? 'stranger'
const mayCall = (caller: Caller, action: Action) =>
  !['NotParty', 'AccessControlUnauthorizedAccount'].includes(
    refusalOf({ paused: false, now: 0n, deals: new Map() }, caller, action) ?? '',
  )

test('after any history the money lies where the model says, to the last unit', async () => {
  const { chain, escrow } = stage()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(steps, speakers), { minLength: 10, maxLength: 25 }), async (history) => {
      const snapshot = await chain.client.snapshot()
      let world = await start()
      let expected = { buyer: 0n, payTo: FUNDS, operator: FUNDS, held: 0n }
      for (const [step, speaker] of history) {
        const action = step(world)
        if (typeof action === 'bigint') {
          world = await pass(world, action)
          continue
        }
        const caller = speaker ?? entitled(action)
        const refused = refusalOf(world, caller, action)
        expect(await attempt(caller, action)).toBe(refused)
        if (refused !== undefined) continue
        const moved = moneyOf(world, action)
        expected = {
          buyer: expected.buyer + moved.buyer,
          payTo: expected.payTo + moved.payTo,
          operator: expected.operator + moved.operator,
          held: expected.held + moved.held,
        }
        world = after(world, action)
      }
      expect(await money()).toEqual(expected)
      expect(await chain.read(escrow, 'totalHeld')).toBe(expected.held)
      for (const id of ['a', 'b']) {
        const row = await chain.read(escrow, 'deals', [idOf(id)])
        expect(row).toMatchObject({ 2: stateNumber[dealOf(world, id).state], 3: dealOf(world, id).closed })
      }
      await chain.client.revert({ id: snapshot })
    }),
    { numRuns: 40 },
  )
})

describe('while it is paused, a third party that asks the contract itself', () => {
  test('finds deposit and release closed, and refund, timeout and emergency open', async () => {
    let world = await start()
    for (const id of ['waits', 'is refunded', 'times out', 'is withdrawn']) {
      const deadline = world.now + 3_600n
      world = await done(world, 'operator', { name: 'deposit', id, deadline, toPayTo: false })
    }
    world = await pass(world, 3_601n)
    await done(world, 'pauser', { name: 'pause' })
    const later = world.now + DAY
    expect(await attempt('operator', { name: 'deposit', id: 'new', deadline: later, toPayTo: false })).toBe(
      'EnforcedPause',
    )
    expect(await attempt('operator', { name: 'release', id: 'waits' })).toBe('EnforcedPause')
    expect(await attempt('operator', { name: 'refund', id: 'is refunded' })).toBeUndefined()
    expect(await attempt('stranger', { name: 'claimTimeout', id: 'times out' })).toBeUndefined()
    expect(await attempt('admin', { name: 'emergencyWithdraw', id: 'is withdrawn' })).toBeUndefined()
    expect(await money()).toEqual({ buyer: 3n * AMOUNT, payTo: FUNDS, operator: FUNDS - 4n * AMOUNT, held: AMOUNT })
    expect(await attempt('admin', { name: 'unpause' })).toBeUndefined()
    expect(await attempt('operator', { name: 'release', id: 'waits' })).toBeUndefined()
    expect(await money()).toMatchObject({ payTo: FUNDS + AMOUNT, held: 0n })
  })
})

describe('a deposit by authorization', () => {
  const key = devAccounts[5]

  async function authorized(id: string, change: Partial<ReturnType<typeof termsOf>> = {}) {
    const { chain, token, escrow } = stage()
    const deadline = (await start()).now + DAY
    const terms = termsOf({ id, deadline, toPayTo: true })
    const nonce = await chain.client.readContract({
      abi: contracts.escrow.abi,
      address: escrow.address,
      functionName: 'termsHash',
      args: [terms],
    })
    const wish = {
      from: payTo,
      to: escrow.address,
      value: AMOUNT,
      nonce,
      primaryType: 'ReceiveWithAuthorization',
    } as const
    const { signature } = await signed(token.address, wish, key)
    return [{ ...terms, ...change }, payTo, 0n, 2n ** 48n, signature] as const
  }

  async function deposit(caller: Caller, args: readonly unknown[]) {
    const { chain, escrow } = stage()
    const outcome = await chain.attempt({ from: addressOf(caller), to: escrow, name: 'depositWithAuthorization', args })
    return outcome.ok ? undefined : outcome.error
  }

  test('fills the signed terms from the wallet that signed, once', async () => {
    const args = await authorized('a')
    expect(await deposit('stranger', args)).toBe('NotParty')
    expect(await deposit('operator', args)).toBeUndefined()
    expect(await money()).toEqual({ buyer: 0n, payTo: FUNDS - AMOUNT, operator: FUNDS, held: AMOUNT })
    expect(await deposit('operator', args)).toBe('Exists')
  })

  test('fills no other terms', async () => {
    const changes = [
      { id: idOf('b') },
      { buyer: addressOf('stranger'), refundTo: payTo },
      { refundTo: addressOf('buyer') },
      { net: NET + 1n, fee: FEE - 1n },
      { deadline: (await start()).now + 2n * DAY },
    ]
    for (const change of changes) {
      expect(await deposit('operator', await authorized('a', change))).toBe('FiatTokenV2: invalid signature')
    }
    expect(await money()).toMatchObject({ held: 0n })
  })

  test('is taken by the escrow only: nobody can strand the money in it', async () => {
    const { chain, token, escrow } = stage()
    const [, from, validAfter, validBefore, signature] = await authorized('a')
    const args = [from, escrow.address, AMOUNT, validAfter, validBefore, idOf('a'), signature]
    const stranger = await chain.attempt({
      from: addressOf('stranger'),
      to: token,
      name: 'receiveWithAuthorization',
      args,
    })
    expect(stranger).toEqual({ ok: false, error: 'FiatTokenV2: caller must be the payee' })
  })
})

test('terms that pay a third party, nobody or nothing are refused', async () => {
  const { chain, escrow } = stage()
  const { now } = await start()
  const good = termsOf({ id: 'a', deadline: now + DAY, toPayTo: false })
  const zero = `0x${'00'.repeat(20)}` as const
  const bad = [
    { refundTo: addressOf('stranger') },
    { buyer: zero, refundTo: zero },
    { buyer: escrow.address, refundTo: escrow.address },
    { net: 0n, fee: 0n },
    { deadline: now + LONGEST_WAIT + DAY },
  ]
  for (const change of bad) {
    const args = [{ ...good, ...change }]
    const outcome = await chain.attempt({ from: addressOf('operator'), to: escrow, name: 'deposit', args })
    expect(outcome).toEqual({ ok: false, error: 'BadTerms' })
  }
})

test('a buyer whom the issuer blocks leaves the money where it is, not at somebody else', async () => {
  const { chain, token } = stage()
  const world = await start()
  const deadline = world.now + DAY
  await done(world, 'operator', { name: 'deposit', id: 'a', deadline, toPayTo: false })
  const buyer = addressOf('buyer')
  await chain.attempt({ from: addressOf('admin'), to: token, name: 'blacklist', args: [buyer] })
  expect(await attempt('operator', { name: 'refund', id: 'a' })).toBe('Blacklistable: account is blacklisted')
  await chain.attempt({ from: addressOf('admin'), to: token, name: 'unBlacklist', args: [buyer] })
  expect(await attempt('operator', { name: 'refund', id: 'a' })).toBeUndefined()
})

describe('the splitter', () => {
  const [first, second] = [accountAt(6), accountAt(7)]

  test('divides by its shares, floored, and keeps the rest for the next time', async () => {
    const { chain, token } = stage()
    const splitter = await chain.deploy(contracts.splitter, [
      [first, second],
      [950_000n, 50_000n],
    ])
    const distribute = () =>
      chain.attempt({ from: addressOf('stranger'), to: splitter, name: 'distribute', args: [token.address] })
    const of = (account: `0x${string}`) => chain.read(token, 'balanceOf', [account])
    expect(await distribute()).toEqual({ ok: false, error: 'Nothing' })
    await chain.attempt({ from: addressOf('admin'), to: token, name: 'mint', args: [splitter.address, 1_000_001n] })
    expect(await distribute()).toMatchObject({ ok: true })
    expect([await of(first), await of(second), await of(splitter.address)]).toEqual([950_000n, 50_000n, 1n])
    expect(await distribute()).toEqual({ ok: false, error: 'Nothing' })
  })

  const bad = [
    ['too little', [first], [999_999n]],
    ['a payee without one', [first, second], [1_000_000n]],
    ['nobody', [], []],
    ['a share of nothing', [first, second], [1_000_000n, 0n]],
    ['no address', [`0x${'00'.repeat(20)}`], [1_000_000n]],
    ['a sum that runs over', [first, second], [2n ** 256n - 1n, 1_000_001n]],
  ] as const
  test.each(bad)('takes no shares that are not the whole: %s', async (_, payees, shares) => {
    await expect(stage().chain.deploy(contracts.splitter, [payees, shares])).rejects.toThrow('reverted')
  })
})
