import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { AppError, attempt, errnoOf } from '../../../../../src/core/error.ts'
import { makeFolder } from '../../../../../src/core/folder.ts'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import { readWhole, realDisk, replaceFile } from '../../../../store/disk.ts'
import type { Log } from '../../../log.ts'
import { type Anvil, type AnvilOptions, ask, startAnvil } from './process.ts'

/** The daemon's copy of the running chain; always complete. */
const KEPT = 'chain.json'
/** The state file that the chain program writes when it exits; may be incomplete. */
const LAST = 'chain.last.json'

const State = z.object({ best_block_number: z.union([z.int(), z.string().transform(Number)]) })

/**
 * Stored chain state of a data folder. The chain program overwrites its own file in place, so a crash could lose the
 * chain. The daemon therefore writes a copy atomically.
 */
type KeptState = {
  /** File to which the chain program writes its state on an orderly exit. */
  readonly dump: string
  /** Newest complete state file; undefined if none. @throws AppError if the daemon's own copy is damaged */
  readonly newest: () => Promise<string | undefined>
  /** @param dumped - result of `anvil_dumpState`: compressed JSON in hex */
  readonly keep: (dumped: string) => Promise<void>
}

function keptState(folder: string): KeptState {
  const kept = `${folder}/${KEPT}`
  const dump = `${folder}/${LAST}`
  return {
    dump,
    newest: async () => {
      const [before, last] = [await headOf(kept), await headOf(dump)]
      if (last !== undefined && last >= (before ?? 0)) await realDisk.rename(dump, kept)
      else await realDisk.remove(dump)
      if ((await realDisk.stat(kept)) === undefined) return undefined
      if ((await headOf(kept)) !== undefined) return kept
      throw new AppError(
        'invalid_request',
        `${kept} is damaged, so the devnet cannot start: start over with souk reset.`,
      )
    },
    keep: async (dumped) => {
      const json = await promisify(gunzip)(Buffer.from(dumped.slice(2), 'hex'))
      await replaceFile(realDisk, { dir: folder, name: KEPT }, json.toString('utf8'))
    },
  }
}

/** Number of the last block in a stored state; undefined if the file is incomplete. */
async function headOf(file: string): Promise<number | undefined> {
  const bytes = await readWhole(realDisk, file)
  return bytes && attempt(() => State.parse(JSON.parse(bytes.toString('utf8'))).best_block_number)
}

const PID_FILE = 'chain.pid'
/** Longest wait for the chain program to exit. It writes the whole chain before it exits. */
const END_MS = 20 * SECOND_MS
const LOOK_MS = 25

async function notePid(folder: string, pid: number): Promise<void> {
  await writeFile(join(folder, PID_FILE), `${pid}\n`, { mode: 0o600 })
}

/** Stops a chain that a killed daemon left behind. Kills it if it has not exited within `END_MS`. */
async function awaitEnd(folder: string): Promise<void> {
  const pid = Number(await readIf(join(folder, PID_FILE)))
  if (!Number.isSafeInteger(pid) || pid <= 1) return
  for (let waited = 0; (await isOurs(pid, folder)) && waited < END_MS; waited += LOOK_MS) {
    if (waited === 0) process.kill(pid, 'SIGTERM')
    await sleep(LOOK_MS)
  }
  if (await isOurs(pid, folder)) process.kill(pid, 'SIGKILL')
}

/** Whether a process is this folder's chain, and not a later process with the same id. */
async function isOurs(pid: number, folder: string): Promise<boolean> {
  return (await readIf(`/proc/${pid}/cmdline`))?.includes(`${folder}/`) ?? false
}

async function readIf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(errnoOf(error) ?? '')) return undefined
    throw error
  }
}

/** Interval at which a small chain is saved. */
const KEEP_MS = SECOND_MS
/** Saving a large chain takes at most 1/`KEEP_SHARE` of the time. */
const KEEP_SHARE = 20
const AGAIN_MS = SECOND_MS

export type DevnetOptions = Pick<AnvilOptions, 'program' | 'chainId' | 'blockTimeS'> & {
  /** Folder of this chain; created if missing. */
  readonly folder: string
  readonly log: Log
}

/** A local chain that runs with the daemon and keeps its state. */
export type Devnet = Awaited<ReturnType<typeof openDevnet>>

/** Starts a folder's chain with its stored state, and restarts it when it exits. */
export async function openDevnet({ folder, log, ...options }: DevnetOptions) {
  makeFolder(folder)
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
      log.error({ source: 'chain', words }, 'the devnet exited and is being restarted')
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
        log.error({ source: 'chain', error: String(error) }, 'the devnet does not restart')
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

/** Saves the chain soon after new blocks, for at most 1/`KEEP_SHARE` of the time. `now` saves it immediately. */
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
      log.warn({ source: 'chain', error: String(error) }, 'the devnet state was not saved')
    } finally {
      isBusy = false
    }
  }
  const timer = setInterval(keepInTime, KEEP_MS).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  return { now }
}
