import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import type { Log } from '../../../log.ts'
import { awaitEnd, notePid } from './predecessor.ts'
import { type Anvil, type AnvilOptions, ask, startAnvil } from './process.ts'
import { type KeptState, keptState } from './state.ts'

/** How soon a block is on disk, where the chain is small. */
const KEEP_MS = SECOND_MS
/** Of a large chain: at most one part in so many of the time goes into writing it out. */
const KEEP_SHARE = 20
const AGAIN_MS = SECOND_MS

export type DevnetOptions = Pick<AnvilOptions, 'program' | 'chainId' | 'blockTimeS'> & {
  /** Of this chain alone; made where it is missing. */
  readonly folder: string
  readonly log: Log
}

/** A chain on this machine that lives as long as the daemon, and whose state stays. */
export type Devnet = {
  readonly url: string
  /** False where it began anew: nothing was on disk. */
  readonly wasThere: boolean
  /** Has all that happened until now on disk. */
  readonly keep: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts the chain of a folder with the state that it was left with, and again whenever it ends by itself. */
export async function openDevnet({ folder, log, ...options }: DevnetOptions): Promise<Devnet> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await awaitEnd(folder)
  const state = keptState(folder)
  const start = async (port: number) => {
    const begun = await startAnvil({ ...options, folder, port, load: await state.newest(), dump: state.dump })
    await notePid(folder, begun.pid)
    return begun
  }
  const wasThere = (await state.newest()) !== undefined
  const closing = new AbortController()
  let anvil = await start(0)
  const { url, port } = anvil
  const keeper = keepState(url, { keep: state.keep, log, signal: closing.signal })
  const watching = watch()

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      const words = await anvil.ended
      if (closing.signal.aborted) break
      log.error({ source: 'chain', words }, 'the devnet ended by itself and is started again')
      anvil = await restarted()
    }
    await anvil.stop()
  }

  async function restarted(): Promise<Anvil> {
    for (;;) {
      try {
        return await start(port)
      } catch (error) {
        if (closing.signal.aborted) return anvil
        log.error({ source: 'chain', error: String(error) }, 'the devnet does not start again')
        await sleep(AGAIN_MS, undefined, { signal: closing.signal }).catch(() => undefined) // closing is looked at next
      }
    }
  }

  return {
    url,
    wasThere,
    keep: keeper.now,
    close: async () => {
      await keeper.now().catch(() => undefined) // it writes itself out at its end too
      closing.abort()
      await anvil.stop()
      await watching
    },
  }
}

type Keeping = Pick<KeptState, 'keep'> & { readonly log: Log; readonly signal: AbortSignal }

/** Writes the chain out when it has grown: soon after, yet never for a large part of the time. */
function keepState(url: string, { keep, log, signal }: Keeping): { readonly now: () => Promise<void> } {
  let kept: unknown
  let notBefore = 0
  let isBusy = false
  let last = Promise.resolve()
  const keepNow = async () => {
    const head = await ask(url, 'eth_blockNumber')
    if (head === kept) return
    const begun = performance.now()
    await keep(String(await ask(url, 'anvil_dumpState')))
    kept = head
    notBefore = performance.now() + (performance.now() - begun) * KEEP_SHARE
  }
  const now = () => {
    last = last.catch(() => undefined).then(keepNow) // whoever asked for that one was told
    return last
  }
  const keepInTime = async () => {
    if (isBusy || performance.now() < notBefore) return
    isBusy = true
    try {
      await now()
    } catch (error) {
      log.warn({ source: 'chain', error: String(error) }, 'the devnet was not written out')
    } finally {
      isBusy = false
    }
  }
  const timer = setInterval(keepInTime, KEEP_MS).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  return { now }
}
