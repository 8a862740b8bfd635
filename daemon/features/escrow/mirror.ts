import { setTimeout as rest } from 'node:timers/promises'
import type { Wallet } from '../../../src/core/hex.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import { readPlatform, writePlatform } from '../../kernel/switches.ts'
import type { EscrowPort, EscrowResult } from '../../ports/chain/escrow.ts'
import { everyRow } from '../../store/each-page.ts'
import { writtenRow } from '../../store/port.ts'
import { type Advancing, advance, isAsWanted, isForeign, putOff, seeEnd } from './advance.ts'
import type { ContractMirror } from './contract.ts'
import { CONTRACT, type Contract } from './deal.ts'
import { differs, isEnded, noteDue, noteSeen } from './observe.ts'
import { type DealRow, deals } from './rows.ts'

const SLICE_ROWS = 500
/** How long a check of the contract waits for actions in progress. */
const QUIET_MS = 5 * SECOND_MS
const PAUSED_ELSEWHERE = 'The contract was paused by an external call.'

type Looking = Advancing & { readonly work: DealWork; readonly warn: (error: unknown, job?: string) => void }

type Look = Pick<ContractMirror, 'setPaused'> & {
  /** Checks the contract. At a start, reads every deal even if the sums agree. */
  readonly look: (how: { readonly isStart: boolean }) => Promise<void>
}

export function openLook(parts: Looking): Look {
  const { port, work, warn, unlessStopped } = parts
  let looking: Promise<void> | undefined
  let isSwitching = false

  async function lookOnce(isStart: boolean): Promise<void> {
    const { held, paused } = await unlessStopped(port.status())
    if (!isSwitching) await followPause(parts, paused)
    if (!isStart && held === sumHeld(await openDeals(parts))) return
    // Actions in progress change the contract's sum, too, so wait for them and compare again.
    await unlessStopped(
      Promise.race([Promise.allSettled(work.running.values()), rest(QUIET_MS, undefined, { ref: false })]),
    )
    const open = await openDeals(parts)
    if (!isStart && (await unlessStopped(port.status())).held === sumHeld(open)) return
    for (let at = 0; at < open.length; at += MAX_AT_ONCE) {
      await Promise.all(open.slice(at, at + MAX_AT_ONCE).map((deal) => see(parts, deal)))
    }
  }

  return {
    look({ isStart }) {
      looking ??= lookOnce(isStart)
        .catch(warn)
        .finally(() => {
          looking = undefined
          work.wake()
        })
      return looking
    },
    async setPaused(isPaused, write) {
      isSwitching = true
      try {
        const result = await unlessStopped(port.setPaused(isPaused))
        if (!result.ok) return result
        const written = await write()
        if (!isPaused) await retryAll(parts)
        return { ok: true, written }
      } finally {
        isSwitching = false
      }
    },
  }
}

function openDeals({ ctx }: Looking): Promise<DealRow[]> {
  return everyRow(ctx.store.table(deals), { index: 'open', prefix: [], limit: SLICE_ROWS })
}

async function see(parts: Looking, deal: DealRow): Promise<void> {
  const { ctx, port, work, warn, unlessStopped } = parts
  const { id } = deal
  const seen = await unlessStopped(port.dealOf(id))
  // Skip a deal in progress, because its worker reads the contract, too.
  if (work.running.has(id) || !differs(deal, seen) || isAsWanted(deal, seen)) return
  const noted = deal.taken || isEnded(seen) ? seeEnd(parts, id) : ctx.store.tx((t) => noteSeen(t, { id, seen }))
  await noted.catch((error: unknown) => warn(error, id))
}

const unpaused = { escrow_paused_at: null, escrow_paused_reason: null } as const

/** Makes the books follow the contract's pause switch. */
async function followPause(parts: Looking, paused: boolean): Promise<void> {
  const { store, clock, switches } = parts.ctx
  const change = paused ? { escrow_paused_at: clock.now(), escrow_paused_reason: PAUSED_ELSEWHERE } : unpaused
  const isOther = await store.tx(async (t) => {
    if (((await readPlatform(t)).escrow_paused_at !== null) === paused) return false
    await writePlatform(t, change)
    return true
  })
  if (!isOther) return
  await switches.follow()
  if (!paused) await retryAll(parts)
}

async function retryAll({ ctx: { store } }: Looking): Promise<void> {
  for (const { id } of await everyRow(store.table(deals), { index: 'due', prefix: [], limit: SLICE_ROWS })) {
    await store.tx((t) => noteDue(t, id))
  }
}

function sumHeld(open: readonly DealRow[]): bigint {
  return open.reduce((sum, { state, taken, net, fee }) => (state === 'held' && !taken ? sum + net + fee : sum), 0n)
}

/** Maximum time that a payout waits for money from the contract, or a withdrawal for the job's deposit. */
const RETURN_MS = 10 * SECOND_MS

const TAKEN = {
  ok: false,
  failure: 'unavailable',
  reason: 'an external call released its funds; the block is not final yet',
} as const

/**
 * Opens the mirror, so that new jobs deposit into the contract. Before it resolves, it records all external calls made
 * so far, unless the nodes do not answer.
 */
export async function openMirror(ctx: Context, port: EscrowPort): Promise<ContractMirror> {
  await rememberContract(ctx, { address: port.address, pay_to: ctx.chain.payTo })
  const stopped = Promise.withResolvers<never>()
  // Prevents an unhandled rejection if nobody waits for the promise.
  stopped.promise.catch(() => undefined)
  const parts: Advancing = {
    ctx,
    port,
    unlessStopped(answer) {
      // Prevents an unhandled rejection if the answer fails after the mirror has stopped.
      answer.catch(() => undefined)
      return Promise.race([answer, stopped.promise])
    },
  }
  const warn = (error: unknown, job?: string) => {
    if (error instanceof Stopped) return
    ctx.log.warn({ source: 'escrow', ...(job ? { job } : {}), err: String(error) }, 'the escrow contract is busy')
  }
  const work = openDealWork({ ...parts, warn })
  const { look, setPaused } = openLook({ ...parts, work, warn })
  await look({ isStart: true })
  return {
    port,
    look: () => look({ isStart: false }),
    hasReturned: (wallet) => hasReturned(ctx, work, wallet),
    setPaused,
    async withdraw(job) {
      const deal = await depositedDeal(ctx, work, job)
      // While the deposit is in flight, it is unknown what the contract holds.
      if (deal?.open && deal.state === 'none' && deal.sent) return { ok: false, failure: 'unavailable' }
      if (!deal?.open || deal.state !== 'held' || deal.wants_end !== null) return undefined
      return deal.taken ? TAKEN : withdrawn(parts, job)
    },
    async close() {
      stopped.reject(new Stopped('the daemon is stopping'))
      await work.close()
    },
  }
}

async function withdrawn(parts: Advancing, job: string): Promise<EscrowResult> {
  const result = await parts.unlessStopped(parts.port.act({ act: 'emergencyWithdraw', job }))
  if (!result.ok || !isForeign(result)) return result
  await seeEnd(parts, job)
  return (await parts.ctx.store.table(deals).get(job))?.open ? TAKEN : result
}

/** Stores the contract's address. Transactions that open jobs read it from the store. */
async function rememberContract({ store }: Context, value: Contract): Promise<void> {
  const known = await store.table(settings).get(CONTRACT)
  if (JSON.stringify(known?.value) === JSON.stringify(value)) return
  await store.tx(async (t) => {
    await putSetting(t, CONTRACT, value)
  })
}

async function hasReturned(ctx: Context, work: DealWork, wallet: Wallet): Promise<boolean> {
  const table = ctx.store.table(deals)
  const looked = await waited(ctx, work, async (now) => {
    const { rows } = await table.page('returning', [wallet], { limit: MAX_AT_ONCE })
    if (rows.length === 0) return true
    return rows.some(({ next_attempt_at: at }) => at > now) ? false : undefined
  })
  return looked ?? false
}

/** The deal after its deposit. If the deposit takes longer than `RETURN_MS`, the deal as it is then. */
async function depositedDeal(ctx: Context, work: DealWork, id: string): Promise<DealRow | undefined> {
  const table = ctx.store.table(deals)
  await waited(ctx, work, async (now) => {
    const deal = await table.get(id)
    const isOnItsWay = deal?.open && deal.state === 'none' && deal.next_attempt_at <= now
    return isOnItsWay ? undefined : true
  })
  return table.get(id)
}

/** Calls `look` again after each change of a deal until it returns a result; undefined after `RETURN_MS`. */
async function waited<T>(
  { clock, stopping }: Context,
  work: DealWork,
  look: (now: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = clock.wall() + RETURN_MS
  for (;;) {
    const changed = work.changed()
    const now = clock.wall()
    const found = await look(now)
    if (found !== undefined || stopping.aborted || now >= until) return found
    await within(until - now, changed)
  }
}

async function within(ms: number, promise: Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  await Promise.race([promise, over.promise])
  clearTimeout(timer)
}

/** Deals processed concurrently. */
const MAX_AT_ONCE = 64
const LONGEST_SLEEP_MS = MINUTE_MS

/** Thrown when the daemon stops. Unfinished actions are repeated at the next start. */
class Stopped extends Error {
  override readonly name = 'Stopped'
}

type DealWork = {
  /** Starts the actions that are due. */
  readonly wake: () => void
  readonly running: ReadonlyMap<string, Promise<void>>
  /** Resolves at the next change of any deal. */
  readonly changed: () => Promise<void>
  readonly close: () => Promise<void>
}

type Working = Advancing & { readonly warn: (error: unknown, job?: string) => void }

type Round = {
  readonly parts: Working
  readonly running: Map<string, Promise<void>>
  change: PromiseWithResolvers<void>
  filling?: Promise<void> | undefined
  isStale: boolean
  isClosed: boolean
  timer?: NodeJS.Timeout
}

/** Processes due deals, many of them concurrently. */
function openDealWork(parts: Working): DealWork {
  const round: Round = {
    parts,
    running: new Map(),
    change: Promise.withResolvers(),
    isStale: false,
    isClosed: false,
  }
  const unsubscribe = parts.ctx.store.subscribe(({ writes }) => {
    if (!writes.some((write) => writtenRow(deals, write) !== undefined)) return
    round.change.resolve()
    round.change = Promise.withResolvers()
    wake(round)
  })
  return {
    wake: () => wake(round),
    running: round.running,
    changed: () => round.change.promise,
    async close() {
      round.isClosed = true
      clearTimeout(round.timer)
      unsubscribe()
      round.change.resolve()
      await Promise.allSettled([...round.running.values(), round.filling])
    },
  }
}

function wake(round: Round): void {
  round.isStale = true
  if (round.isClosed || round.filling !== undefined) return
  round.filling = fill(round)
    .catch((error: unknown) => {
      round.parts.warn(error)
      sleep(round, LONGEST_SLEEP_MS)
    })
    .finally(() => {
      round.filling = undefined
      if (round.isStale) wake(round)
    })
}

async function fill(round: Round): Promise<void> {
  const { parts, running } = round
  const { store, clock } = parts.ctx
  round.isStale = false
  const { rows } = await store.table(deals).page('due', [], { limit: MAX_AT_ONCE + running.size })
  for (const { id, next_attempt_at: at } of rows) {
    if (round.isClosed || running.size >= MAX_AT_ONCE) return
    if (running.has(id)) continue
    const ms = at - clock.wall()
    if (ms > 0) {
      sleep(round, ms)
      return
    }
    const ended = work(parts, id).finally(() => {
      running.delete(id)
      wake(round)
    })
    running.set(id, ended)
  }
}

function sleep(round: Round, ms: number): void {
  clearTimeout(round.timer)
  round.timer = setTimeout(() => wake(round), Math.min(ms, LONGEST_SLEEP_MS))
  round.timer.unref()
}

async function work({ warn, ...parts }: Working, id: string): Promise<void> {
  try {
    await advance(parts, id)
  } catch (error) {
    if (error instanceof Stopped) return
    warn(error, id)
    const said = error instanceof Error ? error.message : String(error)
    await putOff(parts, id, { error: said }).catch(warn)
  }
}
