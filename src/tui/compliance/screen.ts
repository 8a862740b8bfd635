import { verificationFields } from '../../api/endpoint/list-fields.ts'
import { count, shortSpan } from '../../text/text.ts'
import { cronOf, runDialog } from '../crons/dialogs.ts'
import { businessNow, useClock } from '../crons/screen.ts'
import { bar } from '../parts/charts.ts'
import { accent, bad, blank, dim, good, type Line, type Piece, placed, rule, strong, warn } from '../parts/line.ts'
import { joinedPanels } from '../parts/panels.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { ask, refuse } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { beginLine } from '../shell/commands.ts'
import { findingOf, listTable, sortActions, sortedWords, titlesOf, typedWords, useListQuery } from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { waitingLines } from '../shell/notice.ts'
import { pageActions, sliceWords } from '../shell/pane.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { attemptDialog, walletDialog } from './dialogs.ts'
import {
  ATTEMPTS_PAGE,
  type AttemptFacts,
  type Attempts,
  fetchAttempts,
  fetchSanctions,
  type SanctionFacts,
} from './facts.ts'

const PANES_FROM = 80
const BAR_COLUMNS = 14
const COUNT_COLUMNS = 6

/** A hook: whom the marketplace refuses, what its gate refused, and who wants to be checked. */
export function useCompliance(host: Host, view: View): ReturnType<Screen['use']> {
  const finding = findingOf(view.ui, 'compliance', verificationFields)
  const which = { page: view.ui.pages.compliance ?? 0, asked: useListQuery(host, finding, verificationFields) }
  const attempts = useQuery(fetchAttempts(host.link, which), {
    name: `attempts ${JSON.stringify(which)}`,
    every: SLOW_EVERY_MS,
  })
  const sanctions = useQuery(fetchSanctions(host.link), { name: 'sanctions', every: SLOW_EVERY_MS })
  const now = businessNow(useClock(host), view.now)
  const rows = attempts.value?.attempts ?? []
  const ids = rows.map(({ id }) => id)
  const model: Model = { attempts, sanctions, rows, chosen: chosenIndex(view.ui, ids), now, view }
  return {
    ids,
    problem: finding.problem,
    columns: titlesOf(columnsOf(now)),
    draw: (area) => complianceLines(model, area),
    actions: {
      ...pageActions(host, attempts.value?.total ?? 0, ATTEMPTS_PAGE),
      ...sortActions(host, 'compliance', verificationFields),
      decide: () => decide(host, rows),
      screenOne: () => beginLine(host, 'compliance screen '),
      runCron() {
        const cron = cronOf(host, 'ofac-sdn-refresh')
        if (cron) ask(host, runDialog(host, cron))
      },
      add: () => ask(host, walletDialog(host, 'add')),
      remove: () => ask(host, walletDialog(host, 'remove')),
    },
  }
}

function decide(host: Host, attempts: readonly AttemptFacts[]): void {
  const rows = meant(host.ui.get(), attempts, ({ id }) => id)
  const other = rows.find(({ status }) => status !== 'vendor_pending')
  if (rows.length === 0) refuse(host, 'Nobody asks to be checked.')
  else if (other) refuse(host, `${other.id} is ${other.status}: only what waits for the vendor is decided here.`)
  else
    askAll(
      host,
      rows.map((attempt) => attemptDialog(host, attempt)),
    )
}

type Model = {
  readonly attempts: Query<Attempts>
  readonly sanctions: Query<SanctionFacts>
  readonly rows: readonly AttemptFacts[]
  readonly chosen: number
  /** Business time. */
  readonly now: number | undefined
  readonly view: View
}

function complianceLines(model: Model, { width, height }: ScreenArea): Line[] {
  const above = panelLines(model, width)
  return [...above, ...attemptLines(model, { width, height: height - above.length })]
}

/** The list of refused wallets beside what was refused at the gate; one below the other where it is narrow. */
function panelLines(model: Model, width: number): Line[] {
  const { refusals = [], shelved = [] } = model.view.health.value ?? {}
  const isSplit = width >= PANES_FROM
  const split = isSplit ? Math.round(width / 2) : width
  const side = isSplit ? width - split - 1 : width
  const left = sanctionLines(model, split)
  const right = [
    ...countLines('Refused at the gate', refusals, side),
    ...(shelved.length === 0 ? [] : countLines('Calls to parts that are off', shelved, side)),
  ]
  if (!isSplit) return [...left, ...right]
  return joinedPanels(left, right, { width, split, height: Math.max(left.length, right.length) })
}

function sanctionLines({ sanctions, now, view }: Model, width: number): Line[] {
  const { value } = sanctions
  if (value === undefined) return [rule(width, 'Sanctions list'), ...waitingLines(sanctions, width)]
  const age =
    value.checkedAt === undefined || now === undefined
      ? 'not yet'
      : `${shortSpan(Math.max(0, now - value.checkedAt))} ago`
  const mark: Line = value.stale ? [warn(`! ${age}`)] : [good('✓ fresh')]
  return [
    rule(width, 'Sanctions list', mark),
    [dim(' checked    '), age, dim('   '), accent(keyFor('runCron', view.keys)), dim(' fetch now')],
    [dim(' published  '), value.published || 'not known', dim('  '), value.status === 'ok' ? '' : bad(value.status)],
    [dim(' wallets    '), strong(count(value.total)), dim(`, ${count(value.byHand)} of them by hand`)],
  ]
}

function countLines(title: string, counts: readonly (readonly [name: string, count: number])[], width: number): Line[] {
  const sum = counts.reduce((all, [, one]) => all + one, 0)
  const most = Math.max(1, ...counts.map(([, one]) => one))
  const rows = counts
    .toSorted(([, a], [, b]) => b - a)
    .map(
      ([name, one]): Line =>
        placed(width, [
          [1, [name.replaceAll('_', ' ')]],
          [
            width - BAR_COLUMNS - COUNT_COLUMNS - 3,
            [count(one).padStart(COUNT_COLUMNS), '  ', warn(bar(one / most, BAR_COLUMNS))],
          ],
        ]),
    )
  return [
    rule(width, title, [dim(`${count(sum)} in 24 h`)]),
    ...(rows.length === 0 ? [[good(' ✓ '), 'nothing']] : rows),
  ]
}

function attemptLines({ attempts, rows, chosen, now, view: { ui } }: Model, { width, height }: ScreenArea): Line[] {
  const { value } = attempts
  const typed = typedWords(ui, 'compliance').trimStart()
  const found: Line = [typed === '' ? '' : `${typed}  `, ...sortedWords(ui, 'compliance')]
  if (value === undefined) return [rule(width, 'Identity checks', found), ...waitingLines(attempts, width)]
  const open = rows.filter(({ status }) => status === 'vendor_pending' || status === 'pending_consent').length
  const slice = { offset: (ui.pages.compliance ?? 0) * ATTEMPTS_PAGE, rows: rows.length, total: value.total }
  const counted = slice.rows === slice.total ? `${count(open)} under way` : sliceWords(slice)
  const head = rule(width, `Identity checks ${count(value.total)}`, [...found, dim(counted)])
  if (rows.length === 0)
    return [head, [dim(ui.filters.compliance ? ' nothing matches: esc clears it' : ' nobody has asked to be checked')]]
  const why = rows[chosen]?.reason ?? ''
  const list = { columns: columnsOf(now), rows, idOf: ({ id }: AttemptFacts) => id, chosen }
  const table = listTable(ui, { ...list, width, height: Math.max(1, height - 3) })
  return [head, table.head, ...table.body, why === '' ? blank : [dim(' reason  '), why]]
}

const words: Readonly<Record<AttemptFacts['status'], Piece>> = {
  pending_consent: warn('? operator'),
  vendor_pending: warn('? vendor'),
  approved: good('✓ verified'),
  rejected: bad('✗ refused'),
  expired: dim('– ran out'),
}

function columnsOf(now: number | undefined): readonly ScreenColumn<AttemptFacts>[] {
  return [
    { title: 'STATE', value: ({ status }) => words[status] },
    { title: 'PARTICIPANT', value: ({ participant }) => participant, exact: true },
    { title: 'OPERATOR', value: ({ operator }) => operator || '—', min: 8, drop: 1 },
    { title: 'ATTEMPT', value: ({ id }) => id, exact: true, drop: 2 },
    { title: 'AGE', value: ({ createdAt }) => spanOf(createdAt, now), align: 'right' },
    {
      title: 'ENDS IN',
      value: ({ expiresAt }) =>
        expiresAt === undefined || now === undefined || expiresAt < now ? '—' : shortSpan(expiresAt - now),
      align: 'right',
    },
  ]
}

function spanOf(at: number | undefined, now: number | undefined): string {
  return at === undefined || now === undefined ? '—' : shortSpan(Math.max(0, now - at))
}
