import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { isKeyOf } from '../../../../src/core/record.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { AUTOMATED_MS, defineService, textOf, wrongField } from '../service/service.ts'
import type { WebPage } from '../web/page.ts'
import { actionsOf } from './changelog-actions.ts'
import { dateIn, entriesOf } from './changelog-entries.ts'
import { checkAddress, readFirst } from './pages.ts'

const DEFAULT_WINDOW = 'last 90 days'
const daysOf = { day: 1, week: 7, month: 30, year: 365 } as const
const MAX_COUNT = 10_000

/** UTC days, both inclusive, as `YYYY-MM-DD`. */
type Window = { readonly from: string; readonly to: string }

/**
 * Reads `last N days|weeks|months|years`, `since DATE`, or `DATE..DATE` (also with `to` or `/` between).
 * @throws AppError `input_invalid` for anything else.
 */
function windowOf(text: string, now: number): Window {
  const wanted = text.trim().toLowerCase() || DEFAULT_WINDOW
  const today = dayOf(now)
  const [, number, unit = ''] = /^(?:the )?last (\d{1,5}) (day|week|month|year)s?$/.exec(wanted) ?? []
  if (isKeyOf(daysOf, unit)) {
    const count = Math.min(Number(number), MAX_COUNT) * daysOf[unit]
    return { from: dayOf(Math.max(0, now - count * DAY_MS)), to: today }
  }
  const since = /^since (\S+)$/.exec(wanted)?.[1]
  if (since !== undefined && dateIn(since) === since) return { from: since, to: today }
  const [from = '', to = ''] = wanted.split(/\s*(?:\.\.|\/|\sto\s)\s*/)
  if (dateIn(from) === from && dateIn(to) === to && from <= to) return { from, to }
  throw wrongField('change_window', 'must look like "last 30 days", "since 2026-01-01" or "2026-01-01..2026-03-31"')
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

const MAX_ACTIONS = 100

/** Lists what users of an API must do because of its changes, most urgent first, with quotes. */
export const apiChangelogActions = defineService({
  slug: 'api_changelog_actions',
  timeoutMs: AUTOMATED_MS,
  check(input, ctx) {
    checkAddress('source_url')(input, ctx)
    windowOf(textOf(input, 'change_window'), 0)
  },
  async read(input, ctx) {
    const accept = 'application/atom+xml,application/rss+xml,text/markdown,text/html;q=0.9,*/*;q=0.5'
    return { page: await readFirst(ctx, input, { field: 'source_url', accept }), at: ctx.now() }
  },
  make(input, { page, at }: { page: WebPage; at: number }): Json {
    const wanted = textOf(input, 'change_window').trim() || DEFAULT_WINDOW
    const window = windowOf(wanted, at)
    const { format, entries } = entriesOf(page)
    // Fails, so that the buyer is refunded.
    if (entries.length === 0)
      throw new AppError('provider_failed', 'No changelog entries were found: no heading names a version or date.')
    const dated = entries.filter(({ date }) => date !== null)
    if (dated.length === 0)
      throw new AppError('provider_failed', 'The changelog has no dates, so its entries match no time window.')
    const inWindow = entries.filter(({ date }) => date !== null && date >= window.from && date <= window.to)
    const newest = entries.findIndex(({ date }) => date !== null)
    if (inWindow.length === 0 && newest > 0)
      throw new AppError(
        'provider_failed',
        `The newest entries (${newest}) have no date, and no other is in the window.`,
      )
    const asked = { focus: textOf(input, 'endpoint_focus'), today: dayOf(at), log: entries }
    const { actions, ignored } = actionsOf(inWindow, asked)
    return {
      api_changelog_actions: {
        source_url: page.url,
        format,
        window: { text: wanted, from: window.from, to: window.to },
        entries_read: entries.length,
        entries_in_window: inWindow.length,
        undated: entries.length - dated.length,
        actions: actions.slice(0, MAX_ACTIONS),
        ...(actions.length > MAX_ACTIONS ? { actions_truncated: true } : {}),
        ignored,
        not_checked: ['entries without a date', ...(page.truncated ? ['content after the first megabyte'] : [])],
        fetched_at: new Date(page.at).toISOString(),
      },
    }
  },
})
