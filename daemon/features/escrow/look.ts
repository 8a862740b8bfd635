import { SECOND_MS } from '../../../src/core/time.ts'
import { readPlatform, writePlatform } from '../../kernel/switches.ts'
import { everyRow } from '../../store/each-page.ts'
import { type Advancing, isAsWanted, seeEnd } from './advance.ts'
import type { ContractMirror } from './contract.ts'
import { differs, isEnded, noteDue, noteSeen } from './observe.ts'
import { type DealRow, deals } from './rows.ts'
import { type DealWork, MAX_AT_ONCE } from './work.ts'

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
    await unlessStopped(Promise.race([Promise.allSettled(work.running.values()), rest(QUIET_MS)]))
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

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
