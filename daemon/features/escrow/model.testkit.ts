import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { usdc, ZERO } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { ChainPort } from '../../ports/chain/chain.ts'
import type { EscrowAct, EscrowDeal, EscrowEnd, EscrowPort, EscrowResult } from '../../ports/chain/escrow.ts'

/* The contract as the tests of histories have it: its rules, beside a ledger that keeps the rest of the money. */

const nothing: EscrowDeal = {
  state: 'none',
  buyer: toWallet(`0x${'00'.repeat(20)}`),
  refundTo: toWallet(`0x${'00'.repeat(20)}`),
  net: ZERO,
  fee: ZERO,
  deadline: 0n,
  timeoutClosed: false,
  toBuyer: ZERO,
}
const endOf = { release: 'released', refund: 'refunded', resolve: 'split', emergencyWithdraw: 'withdrawn' } as const

export type ContractModel = ReturnType<typeof modelOf>

/** @param wall - epoch milliseconds of the chain's clock */
export function modelOf(inner: ChainPort, wall: () => number) {
  const vault = vaultOf(inner)
  const { dealOf, put, end } = vault
  let paused = false
  /** What others did that a reorganisation may yet undo, by job: how it was before. */
  const young = new Map<string, EscrowDeal>()
  const endNow = (job: string): EscrowEnd | undefined => {
    const { state } = dealOf(job)
    return state === 'none' || state === 'held' ? undefined : { state, isFinal: !young.has(job) }
  }
  const port: EscrowPort = {
    address: toWallet(`0x${'ee'.repeat(20)}`),
    async deposit({ job, ...terms }) {
      const known = dealOf(job)
      if (known.state !== 'none') return known.net === terms.net ? done() : { ok: false, failure: 'other_terms' }
      if (paused) return { ok: false, failure: 'paused' }
      const amount = terms.net + terms.fee
      const isLate = terms.deadline * 1_000n <= BigInt(wall())
      if (isLate || (await vault.balanceOf(inner.payTo)) < amount) return { ok: false, failure: 'refused' }
      put(job, { ...nothing, ...terms, state: 'held' })
      vault.move(inner.payTo, -amount)
      return done()
    },
    async act(asked) {
      const { state } = dealOf(asked.job)
      if (state === 'none') return { ok: false, failure: 'not_held' }
      const ends: Record<string, string> = endOf
      if (state !== 'held')
        return state === ends[asked.act] ? { ok: true, already: true } : { ok: false, failure: 'ended', reason: state }
      const isStopped = paused && (asked.act === 'release' || asked.act === 'resolve')
      return isStopped ? { ok: false, failure: 'paused' } : vault.doHeld(asked)
    },
    setPaused: async (isPaused) => {
      paused = isPaused
      return done()
    },
    dealOf: async (job) => dealOf(job),
    endOf: async (job) => endNow(job),
    status: async () => ({ held: vault.held(), paused }),
  }
  return {
    port,
    chain: { ...inner, balanceOf: vault.balanceOf, faucet: vault.faucet },
    /** What somebody else does with it; nothing where the contract refuses. */
    outside(what: 'claimTimeout' | 'emergencyWithdraw' | 'refund', job: string): void {
      const deal = dealOf(job)
      if (deal.state !== 'held') return
      young.set(job, deal)
      if (what === 'refund') end(job, 'refunded')
      if (what === 'emergencyWithdraw') end(job, 'withdrawn')
      const isLate = deal.deadline * 1_000n <= BigInt(wall()) && !deal.timeoutClosed
      if (what === 'claimTimeout' && isLate) end(job, 'timed_out')
      if (dealOf(job) === deal) young.delete(job)
    },
    /** A reorganisation drops what somebody else did with a job's money. */
    undo(job: string): void {
      const before = young.get(job)
      if (before) vault.undo(job, before)
      young.delete(job)
    },
    /** What somebody else did is beyond every reorganisation; all of it unless a job is named. */
    finalise(job?: string): void {
      if (job === undefined) young.clear()
      else young.delete(job)
    },
  }
}

function done(): EscrowResult {
  return { ok: true, already: false }
}

/** The deals, and the money of the chain with what they hold and paid out. */
function vaultOf(inner: ChainPort) {
  const deals = new Map<string, EscrowDeal>()
  const moved = new Map<Wallet, bigint>()
  let grants = 0

  const move = (wallet: Wallet, amount: bigint): void => void moved.set(wallet, (moved.get(wallet) ?? 0n) + amount)
  const dealOf = (job: string): EscrowDeal => deals.get(job) ?? nothing
  const put = (job: string, deal: EscrowDeal): void => void deals.set(job, deal)

  function end(job: string, state: EscrowDeal['state'], toBuyer = ZERO): void {
    const deal = dealOf(job)
    put(job, { ...deal, state, toBuyer })
    move(payeeOf(state, deal), deal.net + deal.fee)
  }
  const payeeOf = (state: EscrowDeal['state'], deal: EscrowDeal): Wallet =>
    state === 'timed_out' || state === 'withdrawn' ? deal.buyer : inner.payTo

  function undo(job: string, before: EscrowDeal): void {
    move(payeeOf(dealOf(job).state, before), -(before.net + before.fee))
    put(job, before)
  }

  function doHeld(asked: EscrowAct): EscrowResult {
    const deal = dealOf(asked.job)
    if (asked.act === 'extend') put(asked.job, { ...deal, deadline: asked.deadline })
    else if (asked.act === 'resolve') end(asked.job, 'split', asked.toBuyer)
    else if (asked.act === 'markDelivered' || asked.act === 'markDisputed')
      put(asked.job, { ...deal, timeoutClosed: true })
    else end(asked.job, endOf[asked.act])
    return done()
  }

  /** Nobody counts the days of test money here. */
  const faucet: NonNullable<ChainPort['faucet']> = async (request) => {
    grants += 1
    if (!inner.faucet) throw new Error('there is no test money')
    return inner.faucet({ ...request, nowMs: grants * DAY_MS })
  }
  const amounts = () => [...deals.values()].map(({ state, net, fee }) => (state === 'held' ? net + fee : 0n))
  return {
    ...{ move, dealOf, put, end, undo, doHeld, faucet },
    balanceOf: async (wallet: Wallet) => usdc((await inner.balanceOf(wallet)) + (moved.get(wallet) ?? 0n)),
    held: () => usdc(amounts().reduce((sum, one) => sum + one, 0n)),
  }
}
