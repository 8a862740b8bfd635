import type { WireAnswer } from '../../api/index.ts'
import { isJsonObject, type Json, parseJson } from '../../core/json.ts'
import { type LogLevel, logLevels } from '../../model/words.ts'
import { cyan, dim, oneLine, red, yellow } from '../../text/text.ts'

export type RequestRecord = WireAnswer<'listRequests'>['requests'][number]

/** A log record: the fields that every record has, and further ones. */
export type LogFields = {
  readonly time: string | null
  readonly level: LogLevel
  /** part of the daemon that wrote the record; `process` for text such as a stack trace */
  readonly source: string
  readonly msg: string
  readonly remembered?: never
  readonly [detail: string]: Json | undefined
}

export type RequestFields = Omit<RequestRecord, 'id' | 'at'> & {
  readonly time: string
  readonly level: LogLevel
  readonly source: 'http'
  readonly msg: string
}

export type LogLine = {
  /** Epoch milliseconds; NaN if missing. */
  readonly atMs: number
  readonly fields: LogFields | RequestFields
}

/** Parses a line of the log. A line that is no record becomes a record with the line as its message. */
export function readRecord(line: string): LogLine {
  const { time, level, source, msg, remembered: _, ...details } = fieldsOf(line)
  const at = new Date(typeof time === 'number' ? time : String(time))
  return asLine({
    time: Number.isNaN(at.getTime()) ? null : at.toISOString(),
    level: logLevels.find((one) => one === level) ?? 'info',
    source: typeof source === 'string' ? source : 'process',
    msg: typeof msg === 'string' ? msg : '',
    ...details,
  })
}

export function asLine(fields: LogFields | RequestFields): LogLine {
  return { atMs: fields.time === null ? Number.NaN : Date.parse(fields.time), fields }
}

function fieldsOf(line: string): { readonly [member: string]: Json } {
  try {
    const value = parseJson(line)
    if (isJsonObject(value)) return value
  } catch {
    // Not JSON.
  }
  return { msg: line }
}

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'source', 'msg'])
const tints: Readonly<Record<LogLevel, (text: string) => string>> = { debug: dim, info: cyan, warn: yellow, error: red }
const LEVEL_COLUMNS = 5
const SOURCE_COLUMNS = 8

/** The full time, since a log covers days. On a terminal it is shown shorter (`14:03:07`, `21 Nov 14:03`). */
export const loggedTime = (atMs: number) => (Number.isNaN(atMs) ? '--:--:--' : new Date(atMs).toISOString())

/** A record as text: `TIME info  http     POST /v1/… 200 41ms`. */
export function recordLine({ atMs, fields }: LogLine): string {
  const { level, source, msg } = fields
  const extra = Object.entries(fields)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`)
  const shown = tints[level](level.padEnd(LEVEL_COLUMNS))
  return [loggedTime(atMs), shown, source.padEnd(SOURCE_COLUMNS), oneLine(msg), dim(extra.join(' '))]
    .join(' ')
    .trimEnd()
}
