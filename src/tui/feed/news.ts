import { attentionWords } from '../../nouns/attention.ts'
import { count } from '../../text/text.ts'
import { timeOrDay } from '../../text/time.ts'
import { shownMoney } from '../parts/river.ts'
import { showNews } from '../shell/ask.ts'
import { fetchNeeds, type Needs } from '../shell/needs.ts'
import { ask, fetchClock } from '../shell/queries.ts'
import { time } from '../shell/read.ts'
import type { Host } from '../shell/screen.ts'
import { sentenceOf } from './lines.ts'

const TIME_CHARS = '14:03'.length

/** Says in one line what happened since a time. `enter` then opens the list of it. */
export async function tellNews(host: Host, sinceMs: number): Promise<void> {
  const { link, clock } = host
  const { signal } = new AbortController()
  const query = { since: new Date(sinceMs).toISOString() }
  const [series, needs, business] = await Promise.all([
    ask(link, { name: 'getSeries', asked: { query } }, ({ buckets: [bucket], since }) => ({ bucket, since })),
    fetchNeeds(link)(signal),
    fetchClock(link)(signal),
  ])
  // The header shows an instance that does not answer.
  if (!series.ok || series.value.bucket === undefined || !needs.ok || !business.ok) return
  const { at, calls, purchases, paid_in: paid } = series.value.bucket
  const from = time(at) ?? sinceMs
  const since = timeOrDay(from, clock.now())
  const title = since.includes(':') ? since.slice(0, TIME_CHARS) : since
  const fresh = freshNeeds(needs.value, from + business.value.offsetMs)
  const disputes = fresh.filter(({ kind }) => kind === 'dispute').length
  const others = fresh.length - disputes
  // Failed calls are counted since the daemon started.
  const startedAt = time(series.value.since) ?? 0
  const parts = [
    purchases === 0 ? 'no sales' : `${things(purchases, 'sale')} ${shownMoney(paid)}`,
    ...(disputes === 0 ? [] : [things(disputes, 'dispute')]),
    ...(others === 0 ? [] : [things(others, 'new problem')]),
    ...(calls.broken === 0 ? [] : [things(calls.broken, 'failed call')]),
    ...(startedAt > from ? [`restarted ${timeOrDay(startedAt, clock.now())}`] : []),
    ...(others + calls.broken === 0 && startedAt <= from ? ['nothing broke'] : []),
  ]
  const open = () => openNews(host, { title, from: from + business.value.offsetMs, fresh })
  showNews(host, { text: `since ${title}: ${parts.join(', ')}  → enter`, open })
}

const things = (many: number, word: string) => `${count(many)} ${word}${many === 1 ? '' : 's'}`

const freshNeeds = ({ items }: Needs, from: number) =>
  items.flatMap(({ of }) => of).filter(({ since }) => since !== undefined && since >= from)

type News = { readonly title: string; readonly from: number; readonly fresh: ReturnType<typeof freshNeeds> }

/** Opens the new problems and the events since a time as a list. `enter` on a line opens its record. */
function openNews({ ui, stream }: Host, { title, from, fresh }: News): void {
  const events = stream.get().events.filter(({ at }) => at !== undefined && at >= from)
  const output = [
    ...fresh.map(({ kind, who, amount, sentence, subject }) =>
      ['!', attentionWords[kind].word, who, amount, sentence, subject].filter(Boolean).join('  '),
    ),
    ...events.map((event) => {
      const { sign, amount, words } = sentenceOf(event)
      const mark = typeof sign === 'string' ? sign : sign.text
      return [timeOrDay(event.at ?? from, from), mark, amount, words, event.subject].filter(Boolean).join('  ')
    }),
  ]
  const none = ['no events since then, or the cockpit was not connected']
  ui.set({
    ...ui.get(),
    output: output.length === 0 ? none : output,
    picker: { kind: 'output', title: `Since ${title}`, text: '', at: 0 },
  })
}
