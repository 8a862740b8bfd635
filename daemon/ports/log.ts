import { Writable } from 'node:stream'
import pino, { type Logger } from 'pino'
import type { z } from 'zod'
import type { LogLevel } from '../../src/model/words.ts'

export type LogRecord = Readonly<Record<string, z.core.util.JSONType>> & {
  readonly time: string
  readonly level: LogLevel
}

/** Number of records kept in memory, for `souk logs` with a remote daemon. */
const RECENT_RECORDS = 2_000

/** Structured log: each line is a JSON record with `source` and, if known, `request_id`. */
export type Log = {
  readonly debug: (record: Fields, message: string) => void
  readonly info: (record: Fields, message: string) => void
  readonly warn: (record: Fields, message: string) => void
  readonly error: (record: Fields, message: string) => void
  /** Last records, oldest first, and the number of dropped ones. */
  readonly recent: () => { readonly records: readonly LogRecord[]; readonly dropped: number }
}

type Fields = { readonly source: string } & Readonly<Record<string, unknown>>

/** Members that are redacted in a record and in the objects directly inside it. */
const SECRETS = ['signature', 'api_key', 'authorization', 'webhook_secret', 'access_token']
const REDACTED = [...SECRETS, ...SECRETS.map((name) => `*.${name}`)]

export function openLog(options: { level: LogLevel; destination?: NodeJS.WritableStream }): Log {
  const ring: LogRecord[] = []
  let dropped = 0
  const tee = new Writable({
    write(line: Buffer, _encoding, done) {
      if (ring.length === RECENT_RECORDS) {
        ring.shift()
        dropped += 1
      }
      ring.push(JSON.parse(line.toString()))
      if (options.destination) options.destination.write(line)
      done()
    },
  })
  const logger: Logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    tee,
  )
  return {
    debug: (record, message) => logger.debug(record, message),
    info: (record, message) => logger.info(record, message),
    warn: (record, message) => logger.warn(record, message),
    error: (record, message) => logger.error(record, message),
    recent: () => ({ records: [...ring], dropped }),
  }
}
