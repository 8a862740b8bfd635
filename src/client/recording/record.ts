import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { AppError } from '../../core/error.ts'
import { compact } from '../../core/record.ts'
import { jsonText } from '../../text/text.ts'
import { PRIVATE_FILE_MODE } from '../files.ts'
import type { Transport, TransportRequest } from '../transport.ts'
import { authOf, kept, kindOf, RECORDED_LINE_BYTES_MAX, RECORDING_FORM, type RecordedExchange } from './exchange.ts'
import { idsOf, shapeOf } from './shape.ts'
import { heard } from './told.ts'

/** A recording that is larger takes no more. */
export const RECORDING_BYTES_MAX = 64 * 1024 * 1024

export type RecordingFile = {
  readonly file: string
  /** Wall time, epoch milliseconds. */
  readonly now: () => number
  /** Told once, when the recording takes no more. */
  readonly full: () => void
}

/**
 * A transport that keeps what goes through it: one JSON line for each answer, behind those that are there.
 * @throws AppError invalid_request for a file that cannot be written
 */
export function recorded(transport: Transport, { file, now, full }: RecordingFile): Transport {
  append(file, '') // before anything is sent
  let isFull = false
  const write = (exchange: RecordedExchange) => {
    const line = `${jsonText({ recorded: RECORDING_FORM, ...exchange })}\n`
    if (isFull || Buffer.byteLength(line) > RECORDED_LINE_BYTES_MAX) return
    isFull = !append(file, line)
    if (isFull) full()
  }
  return async (request) => {
    const startedAt = now()
    const answer = await transport(request)
    const exchange = { ...exchangeOf(request, startedAt), status: answer.status, ms: now() - startedAt }
    const kind = kindOf(answer.status, answer.headers['content-type'])
    if (kind === 'json') return heard(answer, (text) => write({ ...exchange, ...answerOf(text) }))
    write({ ...exchange, shape: { '.': kind } })
    return answer
  }
}

/** @returns whether there was room for it */
function append(file: string, text: string): boolean {
  try {
    const opened = openSync(file, 'a', PRIVATE_FILE_MODE)
    try {
      if (fstatSync(opened).size + text.length > RECORDING_BYTES_MAX) return false
      writeSync(opened, text)
      return true
    } finally {
      closeSync(opened)
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new AppError('invalid_request', `The recording ${file} cannot be written: ${why}`, { cause: error })
  }
}

function exchangeOf({ method, path, headers = {}, body }: TransportRequest, startedAt: number) {
  const names = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const sent =
    typeof body === 'string' ? { body } : compact({ odd: body === undefined ? undefined : 'the file that it sent' })
  return { at: new Date(startedAt).toISOString(), method, auth: authOf(names), ...kept({ path, ...sent }) }
}

function answerOf(text: string): Pick<RecordedExchange, 'shape' | 'ids'> {
  try {
    const value: unknown = JSON.parse(text)
    const ids = idsOf(value)
    return { shape: shapeOf(value), ...(Object.keys(ids).length > 0 ? { ids } : {}) }
  } catch {
    // It said that it is JSON and is not: whoever reads it will say so.
    return { shape: { '.': 'text' } }
  }
}
