import { z } from 'zod'
import { UpstreamError } from '../../../ports/upstream/upstream.ts'

export const STOCK_DAYS = 100

/** Prices of one security, in the same form for all providers. */
export type StockFacts = {
  readonly symbol: string
  readonly name?: string | undefined
  readonly exchange?: string | undefined
  readonly currency?: string | undefined
  readonly open?: number | undefined
  readonly high?: number | undefined
  readonly low?: number | undefined
  readonly volume?: number | undefined
  readonly previous_close?: number | undefined
  readonly change?: number | undefined
  readonly change_pct?: number | undefined
  readonly price: number
  /** A day, or an ISO 8601 time. */
  readonly as_of: string
  /** Newest day last, for charts. */
  readonly history?: readonly StockDay[]
}

export type StockDay = {
  readonly date: string
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number | null
}

export type StockSource = {
  /** Engine name in results. */
  readonly engine: string
  readonly source: string
  readonly terms_url: string
  readonly path: (symbol: string, isHistory: boolean) => string
  /** Schema of a response. @throws UpstreamError `asker` for an unknown symbol, `busy` if the response has no prices */
  readonly answers: (isHistory: boolean) => z.ZodType<StockFacts>
}

/** Converts numbers that come as text; refuses invalid ones. */
export const Numeric = z
  .string()
  .regex(/^-?\d{1,20}(\.\d{1,20})?$/)
  .transform(Number)
export const Text = z.string().max(200)
export const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?$/)

export function unknownSymbol(): UpstreamError {
  return new UpstreamError('asker', 'unknown to the price source, or not covered by it')
}

/** Error for a provider that reports a failure with HTTP status 200. */
export function busySource(): UpstreamError {
  return new UpstreamError('busy', 'The price source is busy or failing.')
}
