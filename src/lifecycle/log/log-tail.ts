import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readText } from '../../client/files.ts'
import { errnoOf } from '../../core/error.ts'
import { logFile, olderLogFile } from './bounded-log.ts'

const POLL_MS = 200
const READ_BYTES = 64 * 1024
const NEWLINE = 0x0a

/** The lines of both log files, the older file first. */
export function loggedLines(state: string): string[] {
  return [olderLogFile(state), logFile(state)]
    .flatMap((file) => (readText(file) ?? '').split('\n'))
    .filter((line) => line !== '')
}

type Waiting = { sleep(ms: number, signal?: AbortSignal): Promise<void> }

/** Yields new log lines until aborted, also after the log file is replaced or the daemon is restarted. */
export async function* followLines(state: string, system: Waiting, signal: AbortSignal): AsyncGenerator<string> {
  const path = logFile(state)
  let open = openFrom(path, true)
  try {
    while (!signal.aborted) {
      if (open !== undefined) yield* newLines(open)
      const next = rotated(path, open)
      if (next !== undefined) {
        // The old file was read to its end above.
        if (open !== undefined) closeSync(open.file)
        open = next
        continue
      }
      await system.sleep(POLL_MS, signal)
    }
  } finally {
    if (open !== undefined) closeSync(open.file)
  }
}

type Open = { readonly file: number; readonly inode: number; position: number; rest: Buffer }

function openFrom(path: string, atEnd: boolean): Open | undefined {
  try {
    const file = openSync(path, 'r')
    const { ino, size } = fstatSync(file)
    return { file, inode: ino, position: atEnd ? size : 0, rest: Buffer.alloc(0) }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Opens the log file if it is another file than `open`, which means that the log was rotated. */
function rotated(path: string, open: Open | undefined): Open | undefined {
  const now = openFrom(path, false)
  if (now === undefined) return undefined
  if (now.inode !== open?.inode) return now
  closeSync(now.file)
  return undefined
}

function* newLines(open: Open): Generator<string> {
  const chunk = Buffer.alloc(READ_BYTES)
  for (;;) {
    const read = readSync(open.file, chunk, 0, READ_BYTES, open.position)
    if (read === 0) return
    open.position += read
    open.rest = Buffer.concat([open.rest, chunk.subarray(0, read)])
    for (let end = open.rest.indexOf(NEWLINE); end >= 0; end = open.rest.indexOf(NEWLINE)) {
      yield open.rest.subarray(0, end).toString()
      open.rest = open.rest.subarray(end + 1)
    }
  }
}
