import { isKeyOf } from '../../../../src/core/record.ts'
import { wrongField } from '../service/service.ts'

export const DEFAULT_WINDOW = 'last 90 days'
const DAY_MS = 86_400_000
const daysOf = { day: 1, week: 7, month: 30, year: 365 } as const
const MAX_COUNT = 10_000
const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/

/** UTC days, both inclusive, as `YYYY-MM-DD`. */
export type Window = { readonly from: string; readonly to: string }

/**
 * Reads `last N days|weeks|months|years`, `since DATE`, or `DATE..DATE` (also with `to` or `/` between).
 * @throws AppError `input_invalid` for anything else.
 */
export function windowOf(text: string, now: number): Window {
  const wanted = text.trim().toLowerCase() || DEFAULT_WINDOW
  const today = dayOf(now)
  const [, number, unit = ''] = /^(?:the )?last (\d{1,5}) (day|week|month|year)s?$/.exec(wanted) ?? []
  if (isKeyOf(daysOf, unit)) {
    const count = Math.min(Number(number), MAX_COUNT) * daysOf[unit]
    return { from: dayOf(Math.max(0, now - count * DAY_MS)), to: today }
  }
  const since = /^since (\S+)$/.exec(wanted)?.[1]
  if (since !== undefined && isDay(since)) return { from: since, to: today }
  const [from = '', to = ''] = wanted.split(/\s*(?:\.\.|\/|\sto\s)\s*/)
  if (isDay(from) && isDay(to) && from <= to) return { from, to }
  throw wrongField('change_window', 'must look like "last 30 days", "since 2026-01-01" or "2026-01-01..2026-03-31"')
}

function isDay(text: string): boolean {
  return ISO_DAY.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
