import { holdFields, participantFields, payeeFields, payoutFields } from '../../api/endpoint/list-fields.ts'
import type { Link } from '../../client/link.ts'
import { hold, payee, payout } from '../../nouns/money.ts'
import { person } from '../../nouns/people.ts'
import { clip, shortAddress } from '../../text/text.ts'
import { listScreen } from '../list/screen.ts'
import { bad, dim, good, type Line, warn } from '../parts/line.ts'
import { refuse, showToast, toItsJob } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { type CronFacts, nextRun } from '../shell/cron-facts.ts'
import { noneHere, viewWords } from '../shell/finding.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask, fetchCrons, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex, type MoneyView, moneyViews, unnarrowed } from '../shell/ui.ts'
import { booksLines } from './books.ts'
import { audit, type ChainHead, fetchBooks, fetchChain } from './rows.ts'
import { standingLines, useStanding } from './standing.ts'

const NONE = noneHere('nothing here')
const id = 'money'
/** The views of money. Each is a list with its own hooks. */
const lists = {
  holds: listScreen({
    id,
    noun: hold,
    fields: holdFields,
    title: 'Held',
    none: 'nothing is held',
    asked: { sort: 'soonest' },
    order: 'soonest first',
  }),
  payouts: listScreen({ id, noun: payout, fields: payoutFields, title: 'Payouts', none: NONE }),
  failed: listScreen({
    id,
    noun: payout,
    fields: payoutFields,
    title: 'Payouts that failed',
    none: NONE,
    asked: { status: 'failed' },
  }),
  payees: listScreen({ id, noun: payee, fields: payeeFields, title: 'Payees', none: 'no sellers yet' }),
  balances: listScreen({
    id,
    noun: person,
    fields: participantFields,
    title: 'Balances',
    none: NONE,
    asked: { filter: 'balance:>0', sort: '-balance' },
    order: 'largest first',
  }),
} satisfies Record<MoneyView, unknown>

export function useMoney(host: Host, view: View): ReturnType<Screen['use']> {
  const { moneyView } = view.ui
  const books = useQuery(fetchBooks(host.link), { name: 'river books', every: SLOW_EVERY_MS })
  const chain = useQuery(fetchChain(host.link), { name: 'chain head', every: SLOW_EVERY_MS })
  const standing = useStanding(host.link)
  const crons = useQuery(fetchCrons(host.link), { name: 'crons', every: SLOW_EVERY_MS })
  const failed = useQuery(fetchFailedPayouts(host.link), { name: 'payouts failed', every: SLOW_EVERY_MS })
  const now = businessNow(useClock(host), view.now)
  const notes = bookNotes({ crons: crons.value?.crons, failed: failed.value, now })
  const useList = lists[moneyView]
  return useList(host, view, {
    key: moneyView,
    views: (total) => viewWords(Object.values(viewTitles), viewTitles[moneyView], { [viewTitles[moneyView]]: total }),
    tabs: [dim('e json')],
    above: ({ width, height }) => [
      ...booksLines(books, { width, height, keys: view.keys, notes }),
      ...chainLines(chain.value ?? null, width),
    ],
    beside: (area) => standingLines(standing, { ...area, now }),
    actions: (rows: readonly object[], ids) => ({
      view: () => viewNext(host),
      audit: () => void check(host),
      itsJob: () => toItsJob(host, [JSON.stringify(rows[chosenIndex(host.ui.get(), ids)] ?? '')]),
      giveBack: () => giveBackOf(host, ids[chosenIndex(host.ui.get(), ids)] ?? ''),
    }),
  })
}

function viewNext({ ui }: Host): void {
  const { moneyView } = ui.get()
  const next = moneyViews[(moneyViews.indexOf(moneyView) + 1) % moneyViews.length]
  if (next !== undefined) ui.set({ ...unnarrowed(ui.get(), 'money'), moneyView: next })
}

/** Opens the refund dialog of the job whose money is chosen. Only a job's money can be refunded. */
function giveBackOf(host: Host, account: string): void {
  const job = /^esc:(job_.+)$/.exec(account)?.[1]
  if (job === undefined) refuse(host, 'Only money held for a job can be refunded.  → v held')
  else void import('../overview/mend.ts').then(({ giveBack }) => giveBack(host, job))
}

async function check(host: Host): Promise<void> {
  const answer = await audit(host.link)
  if (!answer.ok)
    refuse(host, `${answer.problem.sentence}  → ${answer.problem.next[0] ?? shellCommand(host, ['status'])}`)
  else if (answer.value.ok)
    showToast(host, { text: `✓ The books add up: ${answer.value.words}.`, tone: 'good', stays: false })
  else refuse(host, `The books do not add up.  → ${shellCommand(host, ['money', 'audit'])}   ${answer.value.words}`)
}

const chainSigns = { ok: good('✓'), degraded: warn('!'), down: bad('✗') } as const

/** State of the chain: its problem, or its newest block and queue. */
function chainLines(chain: ChainHead | null, width: number): Line[] {
  if (chain === null) return []
  return [[' ', chainSigns[chain.health], ` chain  ${clip(chain.fault || chain.words, Math.max(1, width - 10))}`]]
}

const viewTitles: Readonly<Record<MoneyView, string>> = {
  holds: 'held',
  payouts: 'payouts',
  failed: 'failed',
  payees: 'earnings',
  balances: 'balances',
}

/** How many payouts failed, and the newest of them. */
type FailedPayouts = { readonly total: number; readonly to: string; readonly tries: number }

const fetchFailedPayouts = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getPayouts', asked: { query: { status: 'failed', limit: '1' }, signal } },
    ({ payouts: [newest], total }): FailedPayouts => ({
      total,
      to: newest === undefined ? '' : shortAddress(newest.wallet),
      tries: newest?.attempts ?? 0,
    }),
  )

type NextFacts = {
  readonly crons: readonly CronFacts[] | undefined
  readonly failed: FailedPayouts | undefined
  /** Business time. */
  readonly now: number | undefined
}

/** Notes for the rows of the books: what happens to each row's money, and when. A note's longest form is first. */
function bookNotes({ crons = [], failed, now }: NextFacts): Readonly<Record<string, readonly string[]>> {
  const next = (name: string) => nextRun(crons.find((cron) => cron.name === name) ?? NOWHERE, now)
  const said = (words: string, at: string) => (at === NEVER ? [] : [`${words} ${at === 'now' ? at : `in ${at}`}`])
  return {
    balances: ['available to their owners'],
    'owed to providers': said('next settlement', next('provider-settlement')),
    'payouts under way': failedWords(failed),
    fees: said('next payout', next('splitter-distribute')),
    'referral money': said('next check', next('referral-rewards')),
    'kept back': ['of sanctioned wallets'],
  }
}

const NOWHERE = { more: undefined }
const NEVER = '—'

function failedWords(failed: FailedPayouts | undefined): readonly string[] {
  if (failed === undefined || failed.total === 0) return []
  if (failed.total > 1) return [`${failed.total} failed`]
  return [`1 failed, to ${failed.to}, tried ${failed.tries} times`, '1 failed']
}
