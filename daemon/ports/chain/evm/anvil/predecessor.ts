import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf } from '../../../../../src/core/error.ts'
import { SECOND_MS } from '../../../../../src/core/time.ts'

const PID_FILE = 'chain.pid'
/** It writes the whole chain out. */
const END_MS = 20 * SECOND_MS
const LOOK_MS = 25

/** Remembers which process works in a folder. */
export async function notePid(folder: string, pid: number): Promise<void> {
  await writeFile(join(folder, PID_FILE), `${pid}\n`, { mode: 0o600 })
}

/** Where a daemon was killed, its chain may still be writing itself out: that is waited for, and then forced. */
export async function awaitEnd(folder: string): Promise<void> {
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
