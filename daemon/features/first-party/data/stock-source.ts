import { z } from 'zod'
import { UpstreamError } from '../../../ports/upstream/upstream.ts'

export const STOCK_DAYS = 100

/** Of one security, as every source tells it; a text of a price is a number by then. */
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
  /** A day, or a moment in ISO 8601. */
  readonly as_of: string
  /** Newest last, as a chart is drawn. */
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

/** Who tells prices, and how it is asked. */
export type StockSource = {
  /** Name of the engine in results. */
  readonly engine: string
  readonly source: string
  readonly terms_url: string
  readonly path: (symbol: string, isHistory: boolean) => string
  /** Its answers as facts. @throws UpstreamError asker for a symbol that it does not know, busy while it gives none. */
  readonly answers: (isHistory: boolean) => z.ZodType<StockFacts>
}

/** Numbers come as text; what is none is refused, never read as something near. */
export const Numeric = z
  .string()
  .regex(/^-?\d{1,20}(\.\d{1,20})?$/)
  .transform(Number)
export const Text = z.string().max(200)
export const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?$/)

export function unknownSymbol(): UpstreamError {
  return new UpstreamError('asker', 'is not known to the source of prices, or not carried by it')
}

/** Errors come with the status 200 of HTTP, and say it inside. */
export function busySource(): UpstreamError {
  return new UpstreamError('busy', 'The source of prices is busy or failing.')
}
