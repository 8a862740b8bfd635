import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import type { WebPage } from '../web/page.ts'
import { DEFAULT_WINDOW, windowOf } from './change-window.ts'
import { actionsOf } from './changelog-actions.ts'
import { entriesOf } from './changelog-entries.ts'
import { checkAddress, readFirst } from './pages.ts'

const MAX_ACTIONS = 100
const DAY_MS = 86_400_000

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
    if (entries.length === 0) throw nothingFound('No changelog entries were found: no heading names a version or date.')
    const dated = entries.filter(({ date }) => date !== null)
    if (dated.length === 0) throw nothingFound('The changelog has no dates, so its entries match no time window.')
    const inWindow = entries.filter(({ date }) => date !== null && date >= window.from && date <= window.to)
    const { actions, ignored } = actionsOf(inWindow, { focus: textOf(input, 'endpoint_focus'), today: isoDay(at) })
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

/** A failure, so that the buyer is refunded. */
function nothingFound(message: string): AppError {
  return new AppError('provider_failed', message)
}

function isoDay(at: number): string {
  return new Date(Math.floor(at / DAY_MS) * DAY_MS).toISOString().slice(0, 10)
}
