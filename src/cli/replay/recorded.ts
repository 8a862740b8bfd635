import { BadAnswer, checkAnswer } from '../../client/check.ts'
import type { RecordedExchange } from '../../client/recording/exchange.ts'
import { isPlainPath } from '../../client/transport.ts'
import { usage } from '../exit.ts'

/** Requests of one file. */
export const REQUESTS_MAX = 20_000
export const PATH_CHARS_MAX = 8_192
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const

/** A request of a file, and where in it. */
export type ReplayRequest = Omit<RecordedExchange, 'at' | 'status' | 'ms'> & {
  /** Line of the file, or number of the entry. */
  readonly line: number
  /** Null where it had no answer. */
  readonly status: number | null
  readonly ms: number | null
}

export type Read = {
  readonly format: 'recording' | 'log' | 'har'
  readonly requests: readonly ReplayRequest[]
}

/** @throws CliError usage beyond what one file may hold */
export function refuseMore(file: string, requests: number): void {
  if (requests > REQUESTS_MAX) throw usage(`${file} holds more than ${REQUESTS_MAX} requests: split it.`)
}

export type FilePlace = { readonly file: string; readonly line: number; readonly what?: string }

export function faulty({ file, line, what = 'line' }: FilePlace, field: string, must: string) {
  return usage(`${file}, ${what} ${line}: ${field} ${must}.`, { facts: ['nothing was sent'] })
}

/** @throws CliError usage that names line and field */
export function checkFields(place: FilePlace, value: unknown, shape: string): void {
  try {
    checkAnswer(value, shape, {})
  } catch (error) {
    throw error instanceof BadAnswer ? faulty(place, error.path || 'it', error.must) : error
  }
}

export function checkPath(place: FilePlace, field: string, given: string): void {
  if (!isPlainPath(given))
    throw faulty(place, field, 'must be a path of an instance: one / first, no .. and no white space')
}
