import { toHex } from 'viem'
import type { Hex } from '../../../../../src/core/hex.ts'
import { accountAt, type TestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from './artifacts.testkit.ts'

/* What the escrow contract promises, said once: a model that the tests compare it with. */

export const DAY = 86_400n
export const callers = { admin: 0, operator: 1, pauser: 2, buyer: 3, stranger: 4 } as const
export type Caller = keyof typeof callers
export const addressOf = (caller: Caller): Hex => accountAt(callers[caller])
export const payTo = accountAt(5)
export const FUNDS = 1_000_000_000n
/** 0.25 plus fees: no percentage gives these. */
export const NET = 250_000n
export const FEE = 13_000n
export const AMOUNT = NET + FEE

export type Outcome = 'none' | 'held' | 'released' | 'refunded' | 'split' | 'timed_out' | 'withdrawn'
export const stateNumber: Record<Outcome, number> = {
  none: 0,
  held: 1,
  released: 2,
  refunded: 3,
  split: 4,
  timed_out: 5,
  withdrawn: 6,
}

export type ModelDeal = {
  readonly state: Outcome
  readonly closed: boolean
  readonly deadline: bigint
  readonly toPayTo: boolean
}
export type World = { readonly paused: boolean; readonly now: bigint; readonly deals: ReadonlyMap<string, ModelDeal> }

export type Action =
  | { readonly name: 'deposit'; readonly id: string; readonly deadline: bigint; readonly toPayTo: boolean }
  | { readonly name: 'resolve'; readonly id: string; readonly toBuyer: bigint }
  | { readonly name: 'extend'; readonly id: string; readonly deadline: bigint }
  | { readonly name: (typeof plainActs)[number]; readonly id: string }
  | { readonly name: 'pause' }
  | { readonly name: 'unpause' }

export const plainActs = [
  'release',
  'refund',
  'claimTimeout',
  'emergencyWithdraw',
  'markDelivered',
  'markDisputed',
] as const

export const LONGEST_WAIT = 180n * DAY
const none: ModelDeal = { state: 'none', closed: false, deadline: 0n, toPayTo: false }

export const dealOf = (world: World, id: string): ModelDeal => world.deals.get(id) ?? none
export const idOf = (name: string): Hex => toHex(name, { size: 32 })

/** The error that the contract must give, or undefined where it must do the act. */
export function refusalOf(world: World, caller: Caller, action: Action): string | undefined {
  return refusedCaller(caller, action) ?? refusedPause(world, action) ?? refusedDeal(world, action)
}

function refusedCaller(caller: Caller, { name }: Action): string | undefined {
  const unauthorized = 'AccessControlUnauthorizedAccount'
  if (name === 'claimTimeout') return undefined
  if (name === 'pause') return caller === 'pauser' ? undefined : unauthorized
  if (name === 'unpause' || name === 'emergencyWithdraw') return caller === 'admin' ? undefined : unauthorized
  return caller === 'operator' ? undefined : 'NotParty'
}

function refusedPause({ paused }: World, { name }: Action): string | undefined {
  if (name === 'unpause') return paused ? undefined : 'ExpectedPause'
  const stops = ['deposit', 'release', 'resolve', 'pause'].includes(name)
  return paused && stops ? 'EnforcedPause' : undefined
}

function refusedDeal(world: World, action: Action): string | undefined {
  if (action.name === 'pause' || action.name === 'unpause') return undefined
  const deal = dealOf(world, action.id)
  if (action.name === 'deposit') {
    if (deal.state !== 'none') return 'Exists'
    return isSoon(world, action.deadline) ? undefined : 'BadTerms'
  }
  if (deal.state !== 'held') return 'NotHeld'
  return refusedHeld(world, deal, action)
}

function refusedHeld(world: World, deal: ModelDeal, action: Action): string | undefined {
  if (action.name === 'resolve') return action.toBuyer > AMOUNT ? 'AmountMismatch' : undefined
  if (action.name === 'extend') {
    return action.deadline > deal.deadline && isSoon(world, action.deadline) ? undefined : 'BadTerms'
  }
  if (action.name !== 'claimTimeout') return undefined
  if (deal.closed) return 'TimeoutClosed'
  return world.now < deal.deadline ? 'TooEarly' : undefined
}

function isSoon({ now }: World, deadline: bigint): boolean {
  return deadline > now && deadline <= now + LONGEST_WAIT
}

const ends: Partial<Record<Action['name'], Outcome>> = {
  release: 'released',
  refund: 'refunded',
  resolve: 'split',
  claimTimeout: 'timed_out',
  emergencyWithdraw: 'withdrawn',
}

/** What an allowed act makes of the world. */
export function after(world: World, action: Action): World {
  if (action.name === 'pause' || action.name === 'unpause') return { ...world, paused: action.name === 'pause' }
  const deal = dealOf(world, action.id)
  const put = (changed: Partial<ModelDeal>): World => ({
    ...world,
    deals: new Map([...world.deals, [action.id, { ...deal, ...changed }]]),
  })
  if (action.name === 'deposit') {
    return put({ state: 'held', deadline: action.deadline, toPayTo: action.toPayTo })
  }
  if (action.name === 'extend') return put({ deadline: action.deadline })
  const state = ends[action.name]
  return put(state === undefined ? { closed: true } : { state })
}

export type Moved = { readonly buyer: bigint; readonly payTo: bigint; readonly operator: bigint; readonly held: bigint }

/** Where the money goes by an allowed act. */
export function moneyOf(world: World, action: Action): Moved {
  const still = { buyer: 0n, payTo: 0n, operator: 0n, held: 0n }
  if (action.name === 'deposit') return { ...still, operator: -AMOUNT, held: AMOUNT }
  if (!(action.name in ends) || !('id' in action)) return still
  const { toPayTo } = dealOf(world, action.id)
  const whole = action.name === 'release' ? 0n : AMOUNT
  const buyer = action.name === 'resolve' ? action.toBuyer : whole
  const isOrdinary = action.name === 'refund' || action.name === 'resolve'
  const back = isOrdinary && toPayTo ? 0n : buyer
  return { ...still, buyer: back, payTo: AMOUNT - back, held: -AMOUNT }
}

/** The arguments of the contract's function. */
export function argsOf(action: Action): readonly unknown[] {
  if (action.name === 'pause' || action.name === 'unpause') return []
  const id = idOf(action.id)
  if (action.name === 'deposit') return [termsOf(action)]
  if (action.name === 'resolve') return [id, action.toBuyer]
  if (action.name === 'extend') return [id, action.deadline]
  return [id]
}

type Wanted = { readonly id: string; readonly deadline: bigint; readonly toPayTo: boolean }

export function termsOf({ id, deadline, toPayTo }: Wanted) {
  const buyer = addressOf('buyer')
  return { id: idOf(id), buyer, refundTo: toPayTo ? payTo : buyer, net: NET, fee: FEE, deadline }
}

export async function deployEscrow(chain: TestChain) {
  const [admin, operator, pauser] = [addressOf('admin'), addressOf('operator'), addressOf('pauser')]
  const token = await chain.deploy(contracts.testToken, ['USD Coin', '2', admin])
  const escrow = await chain.deploy(contracts.escrow, [token.address, payTo, admin, operator, pauser])
  for (const account of [operator, payTo]) {
    await chain.attempt({ from: admin, to: token, name: 'mint', args: [account, FUNDS] })
  }
  await chain.attempt({ from: operator, to: token, name: 'approve', args: [escrow.address, FUNDS] })
  return { token, escrow }
}
