import { verificationFields } from '../../api/endpoint/list-fields.ts'
import type { Problem } from '../../client/link.ts'
import { HOUR_MS } from '../../core/time.ts'
import { count, shortSpan } from '../../text/text.ts'
import { bad, blank, dim, good, type Line, type Piece, rule, warn } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { askUser, refuse, type Sent } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { beginLine } from '../shell/commands.ts'
import { cronOf, runDialog } from '../shell/cron-dialogs.ts'
import { type DialogSpec, type Field, needed, reasonField } from '../shell/dialog.ts'
import { fetchRiver } from '../shell/figures.ts'
import { findingOf, listTable, sortActions, sortedWords, titlesOf, typedWords, useListQuery } from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { waitingLines } from '../shell/notice.ts'
import { pageActions, sliceWords } from '../shell/pane.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, goTo } from '../shell/ui.ts'
import { ATTEMPTS_PAGE, type AttemptFacts, type Attempts, fetchAttempts, fetchSanctions } from './facts.ts'
import { type PanelsModel, panelLines } from './panels.ts'
import { fetchExports, fetchKept, fetchReads } from './watch.ts'

/** A hook: whom the marketplace refuses, what its gate refused, and who wants to be checked. */
export function useCompliance(host: Host, view: View): ReturnType<Screen['use']> {
  const finding = findingOf(view.ui, 'compliance', verificationFields)
  const which = { page: view.ui.pages.compliance ?? 0, asked: useListQuery(host, finding, verificationFields) }
  const attempts = useQuery(fetchAttempts(host.link, which), {
    name: `attempts ${JSON.stringify(which)}`,
    every: SLOW_EVERY_MS,
  })
  const watched = useWatched(host)
  const now = businessNow(useClock(host), view.now)
  const rows = attempts.value?.attempts ?? []
  const ids = rows.map(({ id }) => id)
  const model: Model = { attempts, ...watched, rows, chosen: chosenIndex(view.ui, ids), now, view }
  return {
    ids,
    problem: finding.problem,
    columns: titlesOf(columnsOf(now)),
    draw: (area) => complianceLines(model, area),
    actions: {
      ...pageActions(host, attempts.value?.total ?? 0, ATTEMPTS_PAGE),
      ...sortActions(host, 'compliance', verificationFields),
      view: () => host.ui.set(goTo(host.ui.get(), 'people')),
      decide: () => decide(host, rows),
      screenOne: () => beginLine(host, 'compliance screen '),
      runCron() {
        const cron = cronOf(host, 'ofac-sdn-refresh')
        if (cron) askUser(host, runDialog(host, cron))
      },
      add: () => askUser(host, walletDialog(host, 'add')),
      remove: () => askUser(host, walletDialog(host, 'remove')),
    },
  }
}

/** A hook: what the panels over the identity checks tell. */
function useWatched({ link, clock, refreshMs }: Host): Omit<PanelsModel, 'now' | 'view'> {
  const every = SLOW_EVERY_MS
  const sanctions = useQuery(fetchSanctions(link), { name: 'sanctions', every })
  const kept = useQuery(fetchKept(link), { name: 'kept back', every })
  const reads = useQuery(fetchReads(link), { name: 'reads of admins', every })
  const exports = useQuery(fetchExports(link, clock.now), { name: 'exports', every })
  const river = useQuery(fetchRiver(link), { name: 'river', every: refreshMs })
  const keptSum = river.value?.books.find(({ kind }) => kind === 'blk')?.amount
  return { sanctions, kept, reads, exports, keptSum }
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

type Model = PanelsModel & {
  readonly attempts: Query<Attempts>
  readonly rows: readonly AttemptFacts[]
  readonly chosen: number
}

function complianceLines(model: Model, { width, height }: ScreenArea): Line[] {
  const above = panelLines(model, { width, height })
  return [...above, ...attemptLines(model, { width, height: height - above.length })]
}

function attemptLines({ attempts, rows, chosen, now, view: { ui } }: Model, { width, height }: ScreenArea): Line[] {
  const { value } = attempts
  const typed = typedWords(ui, 'compliance').trimStart()
  const found: Line = [typed === '' ? '' : `${typed}  `, ...sortedWords(ui, 'compliance')]
  if (value === undefined) return [rule(width, 'Identity checks', found), ...waitingLines(attempts, width)]
  const open = rows.filter(({ status }) => isOpen(status)).length
  const slice = { offset: (ui.pages.compliance ?? 0) * ATTEMPTS_PAGE, rows: rows.length, total: value.total }
  const counted = slice.rows === slice.total ? `${count(open)} under way` : sliceWords(slice)
  const ends = lifeWords(rows)
  const note = ends === '' ? counted : `${counted}, ${ends}`
  const head = rule(width, `Identity checks ${count(value.total)}`, [...found, dim(note)])
  if (rows.length === 0)
    return [head, [dim(ui.filters.compliance ? ' nothing matches: esc clears it' : ' nobody has asked to be checked')]]
  const why = rows[chosen]?.reason ?? ''
  const list = { columns: columnsOf(now), rows, idOf: ({ id }: AttemptFacts) => id, chosen }
  const table = listTable(ui, { ...list, width, height: Math.max(1, height - 3) })
  return [head, table.head, ...table.body, why === '' ? blank : [dim(' reason  '), why]]
}

/** How long somebody has to be checked, as the newest attempt that is open was given it. */
function lifeWords(rows: readonly AttemptFacts[]): string {
  const [open] = rows.filter(({ status }) => isOpen(status))
  if (open?.createdAt === undefined || open.expiresAt === undefined) return ''
  return `end after ${Math.round((open.expiresAt - open.createdAt) / HOUR_MS)}h`
}

const isOpen = (status: AttemptFacts['status']) => status === 'vendor_pending' || status === 'pending_consent'

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
    { title: 'WHO', value: ({ name, participant }) => name || participant, min: 10 },
    { title: 'TIER', value: tierWords, drop: 3 },
    { title: 'OPERATOR', value: ({ operator }) => operator || '—', min: 8, drop: 1 },
    { title: 'ATTEMPT', value: ({ id }) => id, exact: true, drop: 2 },
    { title: 'PARTICIPANT', value: ({ participant }) => dim(participant), exact: true, drop: 4 },
    { title: 'AGE', value: ({ createdAt }) => spanOf(createdAt, now), align: 'right' },
    {
      title: 'ENDS IN',
      value: ({ status, expiresAt }) =>
        !isOpen(status) || expiresAt === undefined || now === undefined || expiresAt < now
          ? '—'
          : shortSpan(expiresAt - now),
      align: 'right',
    },
  ]
}

const tiers = { unverified: 'none', email_verified: 'e-mail', identity_verified: 'identity' } as const

/** What is asked for, from what is there. */
function tierWords({ tier, status }: AttemptFacts): Piece {
  if (tier === undefined) return '—'
  return isOpen(status) ? `${tiers[tier]} → ${tiers.identity_verified}` : dim(tiers[tier])
}

function spanOf(at: number | undefined, now: number | undefined): string {
  return at === undefined || now === undefined ? '—' : shortSpan(Math.max(0, now - at))
}

const decisions = ['approved', 'rejected'] as const
const WALLET = /^0x[0-9a-fA-F]{40}$/

const reason = reasonField('Reason')

const wallet: Field = {
  name: 'wallet',
  label: 'Wallet (0x and 40 digits)',
  check: (value) => (WALLET.test(value.trim()) ? undefined : 'needs a wallet'),
}

const decision = needed({ name: 'decision', label: 'Decision', choices: decisions }, 'a decision')

const undecided: Problem = { kind: 'failed', sentence: 'It needs a decision.', facts: [], next: [] }

/** Says as the vendor of the sandbox who stands behind a participant. */
export function attemptDialog(host: Host, { id, participant, name, operator }: AttemptFacts): DialogSpec {
  return {
    title: 'DECIDE AN IDENTITY CHECK',
    about: `${id}  ${participant}`,
    facts: () => [
      ['attempt', id],
      ['of', name === '' ? participant : `${name}, ${participant}`],
      ['operator', operator || 'not named'],
      ['What it does', 'the participant gets, or is refused, the tier of a checked identity'],
    ],
    fields: [decision, reason],
    verb: 'Decide',
    command: ({ decision: said, reason: why = '' }) =>
      shellCommand(host, ['verify', said === 'rejected' ? 'reject' : 'approve', id, '--reason', why || '…']),
    send: async ({ decision: said, reason: why = '' }) => {
      const chosen = decisions.find((one) => one === said)
      if (chosen === undefined) return { ok: false, problem: undecided }
      const body = { decision: chosen, reason: why.trim() }
      return ask(
        host.link,
        { name: 'decideVerification', asked: { params: { id }, body } },
        ({ status }) => `${id} is ${status}.`,
      )
    },
  }
}

/** Refuses a wallet by hand, or no longer. */
export function walletDialog(host: Host, change: 'add' | 'remove'): DialogSpec {
  const isAdded = change === 'add'
  return {
    title: isAdded ? 'REFUSE A WALLET' : 'NO LONGER REFUSE A WALLET BY HAND',
    facts: () => [
      isAdded
        ? ['What it does', 'it pays nothing and is paid nothing from now on; what is on its way to it is kept back']
        : ['What it does', 'what was added by hand goes; what the list itself names stays refused'],
    ],
    fields: [wallet, ...(isAdded ? [reason] : [])],
    verb: isAdded ? 'Refuse' : 'Remove',
    command: ({ wallet: address = '', reason: why = '' }) =>
      shellCommand(host, ['admin', 'sdn', change, address || '0x…', ...(isAdded ? ['--reason', why || '…'] : [])]),
    send: ({ wallet: address = '', reason: why = '' }): Sent => {
      const at = address.trim()
      return isAdded
        ? ask(
            host.link,
            { name: 'addSanction', asked: { body: { wallet: at, reason: why.trim() } } },
            () => `${at} is refused.`,
          )
        : ask(
            host.link,
            { name: 'removeSanction', asked: { params: { wallet: at } } },
            () => `${at} is no longer refused by hand.`,
          )
    },
  }
}
