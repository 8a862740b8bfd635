import type { Link } from '../../client/link.ts'
import { type PostingStatus, postingStatuses } from '../../model/words.ts'
import { type Posting, posting } from '../../nouns/postings.ts'
import { count } from '../../text/text.ts'
import { type ListWish, listScreen, type NounRows } from '../list/screen.ts'
import { dim } from '../parts/line.ts'
import { refuse } from '../shell/ask.ts'
import { pageOf, viewWords } from '../shell/finding.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Fetch } from '../shell/query.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'
import { useBids } from './bids.ts'

const viewNames = ['all', ...postingStatuses] as const
const PAGE = 50
/** The row knows no fields: what is typed is looked for in so many of the newest. */
const SEARCHED_PAGES = 10

const useList = listScreen<Posting>({
  id: 'requests',
  noun: posting,
  title: 'Requests and bids',
  none: 'nobody asks for such work: v shows the others',
  fields: {
    id: { kind: 'text' },
    title: { kind: 'text' },
    category: { kind: 'text' },
    status: { kind: 'choice', choices: postingStatuses },
    poster: { kind: 'text' },
    bids: { kind: 'count' },
    age: { kind: 'age' },
  },
  own: {
    factsOf: (one) => ({
      id: one.id,
      title: one.title,
      category: one.category,
      status: one.status,
      poster: one.poster_id,
      bids: BigInt(one.bid_count),
      age: Date.parse(one.created_at),
    }),
    fetch: fetchWork,
  },
  useMore: useBids,
})

/** A hook: work that is wanted, and who offers to do it. */
export function useRequests(host: Host, view: View): ReturnType<Screen['use']> {
  const onlyItsOwner = (act: string, command: string) => (rows: readonly Posting[]) => {
    const row = rows[chosenIndex(host.ui.get(), rows.map(posting.idOf))]
    if (row === undefined) refuse(host, 'No request is chosen.')
    // An award pays, and the cockpit has no wallet: the command line shows the price and asks.
    else refuse(host, `Only who asked for it may ${act}.  → ${shellCommand(host, ['requests', command, row.id])}`)
  }
  return useList(host, view, {
    key: view.ui.requestView,
    views: viewWords(viewNames, view.ui.requestView),
    tabs: [dim('e json')],
    actions: (rows) => ({
      view: () => viewNext(host),
      add: () => onlyItsOwner('award', 'bids')(rows),
      remove: () => onlyItsOwner('cancel', 'cancel')(rows),
    }),
  })
}

function statusOf({ requestView }: Ui): PostingStatus | undefined {
  return postingStatuses.find((one) => one === requestView)
}

function viewNext({ ui }: Host): void {
  const { requestView, pages } = ui.get()
  const next = viewNames[(viewNames.indexOf(requestView) + 1) % viewNames.length]
  if (next !== undefined) ui.set({ ...ui.get(), requestView: next, pages: { ...pages, requests: 0 } })
}

/** A page of one state or of all; of what is looked for, as many of the newest as are searched. */
function fetchWork(link: Link, { page, filter, sort }: ListWish, ui: Ui): Fetch<NounRows<Posting>> {
  const status = statusOf(ui)
  const pageAt = (at: number, signal: AbortSignal) => {
    const query = { ...pageOf(at, PAGE), ...(status === undefined ? {} : { status }) }
    return ask(link, { name: 'listPostings', asked: { query, signal } }, ({ postings: rows, total }) => ({
      rows,
      total,
    }))
  }
  if (filter === '' && sort === undefined) return (signal) => pageAt(page, signal)
  return async (signal) => {
    let rows: readonly Posting[] = []
    for (let at = 0; ; at += 1) {
      const answer = await pageAt(at, signal)
      if (!answer.ok) return answer
      const { total } = answer.value
      rows = [...rows, ...answer.value.rows]
      const isAll = rows.length >= total || answer.value.rows.length === 0
      if (isAll) return { ok: true, value: { rows, total } }
      const among = `the newest ${count(rows.length)} of ${count(total)} looked at`
      if (at + 1 === SEARCHED_PAGES) return { ok: true, value: { rows, total, among } }
    }
  }
}
