import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { AppError, errnoOf } from '../../../../../src/core/error.ts'
import { makeFolder } from '../../../../../src/core/folder.ts'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import { readWhole, realDisk, replaceFile } from '../../../../store/disk.ts'
import type { Log } from '../../../log.ts'
import { type Anvil, type AnvilOptions, ask, startAnvil } from './process.ts'

/** What the daemon keeps of its chain while both run: always a whole one. */
const KEPT = 'chain.json'
/** What the chain itself writes when it is ended in order, which can be cut short. */
const LAST = 'chain.last.json'

const State = z.object({ best_block_number: z.union([z.int(), z.string().transform(Number)]) })

/**
 * The chain of a data folder on disk. The program would write its own file over in place, and a crash in the middle
 * would leave no chain at all: so it is asked for its state, and that is put in place at once.
 */
type KeptState = {
  /** Where the chain writes itself out at an orderly end. */
  readonly dump: string
  /** The newest whole state as a file to begin with; undefined where there is none. @throws AppError on a damaged one. */
  readonly newest: () => Promise<string | undefined>
  /** @param dumped - as `anvil_dumpState` answers: a packed JSON, in hex */
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
      throw new AppError('invalid_request', `${kept} is damaged, and with it the devnet: begin anew with souk reset.`)
    },
    keep: async (dumped) => {
      const json = await promisify(gunzip)(Buffer.from(dumped.slice(2), 'hex'))
      await replaceFile(realDisk, { dir: folder, name: KEPT }, json.toString('utf8'))
    },
  }
}

/** Number of the last block of a state on disk; undefined where there is no whole one. */
async function headOf(file: string): Promise<number | undefined> {
  const bytes = await readWhole(realDisk, file)
  if (bytes === undefined) return undefined
  try {
    return State.parse(JSON.parse(bytes.toString('utf8'))).best_block_number
  } catch {
    return undefined
  }
}

const PID_FILE = 'chain.pid'
/** It writes the whole chain out. */
const END_MS = 20 * SECOND_MS
const LOOK_MS = 25

/** Remembers which process works in a folder. */
async function notePid(folder: string, pid: number): Promise<void> {
  await writeFile(join(folder, PID_FILE), `${pid}\n`, { mode: 0o600 })
}

/** Where a daemon was killed, its chain may still be writing itself out: that is waited for, and then forced. */
async function awaitEnd(folder: string): Promise<void> {
  const pid = Number(await readIf(join(folder, PID_FILE)))
  if (!Number.isSafeInteger(pid) || pid <= 1) return
  for (let waited = 0; (await isOurs(pid, folder)) && waited < END_MS; waited += LOOK_MS) {
    if (waited === 0) process.kill(pid, 'SIGTERM')
    await sleep(LOOK_MS)
  }
  if (await isOurs(pid, folder)) process.kill(pid, 'SIGKILL')
}

/** A number is given out again: only what was started to write into this folder is ended. */
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
