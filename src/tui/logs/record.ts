import type { Link } from '../../client/link.ts'
import { safe } from '../../text/cells.ts'
import { get, LOG_RECORDS, paths } from '../shell/queries.ts'
import { fields, list, number, oneOf, text } from '../shell/read.ts'
import { type LogLevel, logLevels } from '../shell/ui.ts'

/** One line of the instance's log. */
export type LogRecord = {
  /** Records carry no id of their own: time, message and request stand for one. */
  readonly id: string
  readonly at: number | undefined
  readonly level: LogLevel
  readonly source: string
  readonly message: string
  /** The other members as `name=value`. */
  readonly detail: string
}

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'source', 'msg'])

export function readLogRecord(value: unknown): LogRecord {
  const record = fields(value)
  const { time } = record
  const at = typeof time === 'number' ? time : Date.parse(String(time))
  return {
    id: `${String(time)} ${text(record.msg)} ${text(record.request_id)}`,
    at: number(at),
    level: oneOf(logLevels, record.level, 'info'),
    source: text(record.source),
    message: text(record.msg),
    detail: Object.entries(record)
      .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
      .map(([name, member]) => safe(`${name}=${typeof member === 'string' ? member : JSON.stringify(member)}`))
      .join(' '),
  }
}

export type Logs = {
  readonly records: readonly LogRecord[] /** Older records that the instance let go. */
  readonly dropped: number
}

export const fetchLogs = (link: Link) => (signal: AbortSignal) =>
  get<Logs>(link, { path: paths.getLogs, query: { limit: LOG_RECORDS }, signal }, (body) => ({
    records: list(body.records).map(readLogRecord),
    dropped: number(body.dropped) ?? 0,
  }))
