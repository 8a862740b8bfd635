import { type AnyObject, isObject } from '../core/json.ts'
import { type LogLevel, logLevels } from '../model/log.ts'
import { cyan, dim, oneLine, red, yellow } from '../text/text.ts'

/** One line of the daemon's log. */
export type LogLine = {
  /** Epoch milliseconds; NaN where the line does not say. */
  readonly atMs: number
  readonly level: LogLevel
  readonly source: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Reads a log line; one that is no record (a stack trace, say) becomes the message of one. */
export function readRecord(line: string): LogLine {
  const fields = fieldsOf(line)
  return {
    atMs: typeof fields.time === 'number' ? fields.time : Date.parse(String(fields.time)),
    level: logLevels.find((level) => level === fields.level) ?? 'info',
    source: typeof fields.source === 'string' ? fields.source : 'process',
    message: typeof fields.msg === 'string' ? fields.msg : '',
    fields,
  }
}

function fieldsOf(line: string): AnyObject {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value
  } catch {
    // Not JSON: shown as it is below.
  }
  return { msg: line }
}

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'source', 'msg'])
const tints: Readonly<Record<LogLevel, (text: string) => string>> = { debug: dim, info: cyan, warn: yellow, error: red }
const LEVEL_COLUMNS = 5
const SOURCE_COLUMNS = 8

/** Whole, since a log reaches back for days; a terminal shows it short (`14:03:07`, `21 Nov 14:03`). */
export const loggedTime = (atMs: number) => (Number.isNaN(atMs) ? '--:--:--' : new Date(atMs).toISOString())

/** A record for people: `14:03:07 info  http     POST /v1/… 200 41ms`. */
export function recordLine(record: LogLine): string {
  const time = loggedTime(record.atMs)
  const extra = Object.entries(record.fields)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`)
  const level = tints[record.level](record.level.padEnd(LEVEL_COLUMNS))
  return [time, level, record.source.padEnd(SOURCE_COLUMNS), oneLine(record.message), dim(extra.join(' '))]
    .join(' ')
    .trimEnd()
}
