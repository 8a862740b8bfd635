import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { type LogLevel, logLevels } from '../../model/log.ts'
import { safe } from '../../text/text.ts'
import { ask, LOG_RECORDS } from '../shell/queries.ts'
import { number, word } from '../shell/read.ts'

/** One line of the instance's log. */
export type LogFacts = {
  /** Records carry no id of their own: time, message and request stand for one. */
  readonly id: string
  readonly at: number | undefined
  readonly level: LogLevel
  readonly source: string
  readonly message: string
  /** The other members as `name=value`. */
  readonly detail: string
  readonly raw: unknown
}

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'source', 'msg'])

/** Members of a record are any JSON: each part of the daemon logs its own. */
function readLogRecord(record: WireAnswer<Api['getLogs']>['records'][number]): LogFacts {
  const { time } = record
  const at = typeof time === 'number' ? time : Date.parse(String(time))
  return {
    id: `${String(time)} ${word(record.msg)} ${word(record.request_id)}`,
    at: number(at),
    level: logLevels.find((level) => level === record.level) ?? 'info',
    source: word(record.source),
    message: word(record.msg),
    detail: Object.entries(record)
      .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
      .map(([name, member]) => safe(`${name}=${typeof member === 'string' ? member : JSON.stringify(member)}`))
      .join(' '),
    raw: record,
  }
}

export type Logs = {
  readonly records: readonly LogFacts[] /** Older records that the instance let go. */
  readonly dropped: number
}

export const fetchLogs = (link: Link) => (signal: AbortSignal) => {
  const asked = { query: { limit: String(LOG_RECORDS) }, signal }
  return ask(
    link,
    { name: 'getLogs', asked },
    ({ records, dropped }): Logs => ({
      records: records.map(readLogRecord),
      dropped,
    }),
  )
}
