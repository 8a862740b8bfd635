import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { errnoOf } from '../../core/error.ts'
import { makeFolder } from '../../core/folder.ts'

/** Maximum size of a log file. There are two files: the current one and an older one. */
export const LOG_BYTES_MAX = 8 * 1024 * 1024
const PRIVATE_FILE_MODE = 0o600

export const logFile = (state: string): string => join(state, 'daemon.log')
export const olderLogFile = (state: string): string => join(state, 'daemon.log.1')
/** File for stdout and stderr of the daemon, with text such as stack traces. Each start empties it. */
export const outputFile = (state: string): string => join(state, 'daemon.out')

/** Opens `daemon.log` for appending. When the file is full, it is renamed to `daemon.log.1`. */
export function openBoundedLog(state: string, bytesMax = LOG_BYTES_MAX): Writable {
  const path = logFile(makeFolder(state))
  let file = openSync(path, 'a', PRIVATE_FILE_MODE)
  let size = statSync(path).size
  const append = (chunk: Uint8Array) => {
    if (size > 0 && size + chunk.byteLength > bytesMax) {
      closeSync(file)
      renameSync(path, olderLogFile(state))
      file = openSync(path, 'a', PRIVATE_FILE_MODE)
      size = 0
    }
    size += writeSync(file, chunk)
  }
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      try {
        append(chunk)
        done()
      } catch (error) {
        // If the disk is full, drop the line: the daemon goes on without its log.
        if (errnoOf(error) === 'ENOSPC') done(null)
        else done(error instanceof Error ? error : new Error(String(error)))
      }
    },
    final(done) {
      closeSync(file)
      done()
    },
  })
}
