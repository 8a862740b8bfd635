import { verificationFields } from '../../api/endpoint/list-fields.ts'
import type { Problem } from '../../client/link.ts'
import { HOUR_MS } from '../../core/time.ts'
import { byNeed, isUnderWay, type VerificationAttempt, verification } from '../../nouns/verifications.ts'
import { count } from '../../text/text.ts'
import { listRows, PAGE, type ShownRows } from '../list/rows.ts'
import { blank, dim, type Line, rule } from '../parts/line.ts'
import { cronOf, runDialog } from '../shell/act-dialogs.ts'
import { askUser, refuse, type Sent, shellCommand } from '../shell/ask.ts'
import { beginLine } from '../shell/commands.ts'
import { type DialogSpec, type Field, needed, reasonField } from '../shell/dialog.ts'
import { fetchRiver } from '../shell/figures.ts'
import { emptyLines, listTable, sortedWords, typedWords } from '../shell/finding.ts'
import { askEach, meant } from '../shell/marks.ts'
import { waitingLines } from '../shell/notice.ts'
import { sliceWords } from '../shell/pane.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text } from '../shell/read.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { goTo } from '../shell/ui.ts'
import { type PanelsModel, panelLines } from './panels.ts'
import { fetchExports, fetchKept, fetchReads, fetchSanctions } from './watch.ts'

const useRows = listRows<VerificationAttempt>({
  id: 'compliance',
  noun: verification,
  fields: verificationFields,
  compare: byNeed,
})

export const screen: Screen = { title: 'Compliance', short: 'Comp', use: useCompliance }

function useCompliance(host: Host, view: View): ReturnType<Screen['use']> {
  const shown = useRows(host, view)
  const { rows, now, face } = shown
  const model: Model = { ...useWatched(host), shown, now, view }
  return {
    ...face,
    draw: (area) => complianceLines(model, area),
    actions: {
      ...face.actions,
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

function decide(host: Host, attempts: readonly VerificationAttempt[]): void {
  const rows = meant(host.ui.get(), attempts, ({ id }) => id)
  const other = rows.find(({ status }) => status !== 'vendor_pending')
  if (rows.length === 0) refuse(host, 'No identity checks.')
  else if (other) refuse(host, `${other.id} is ${other.status}: only checks that wait for the vendor can be decided.`)
  else askEach(host, rows, attemptDialog)
}

type Model = PanelsModel & { readonly shown: ShownRows<VerificationAttempt> }

function complianceLines(model: Model, { width, height }: ScreenArea): Line[] {
  const above = panelLines(model, { width, height })
  return [...above, ...attemptLines(model, { width, height: height - above.length })]
}

function attemptLines({ shown, view: { ui, place } }: Model, { width, height }: ScreenArea): Line[] {
  const { columns, rows, chosen, total = 0, listed } = shown
  const typed = typedWords(ui, 'compliance').trimStart()
  const found: Line = [typed === '' ? '' : `${typed}  `, ...sortedWords(ui, 'compliance')]
  if (listed.value === undefined) return [rule(width, 'Identity checks', found), ...waitingLines(listed, width)]
  const open = rows.filter(isUnderWay).length
  const slice = { offset: (ui.pages.compliance ?? 0) * PAGE, rows: rows.length, total }
  const counted = slice.rows === slice.total ? `${count(open)} open` : sliceWords(slice)
  const ends = lifeWords(rows)
  const note = ends === '' ? counted : `${counted}, ${ends}`
  const head = rule(width, `Identity checks ${count(total)}`, [...found, dim(note)])
  if (rows.length === 0)
    return [head, ...emptyLines(checks, { filter: ui.filters.compliance, width, option: place.option })]
  const why = text(shown.row?.reason)
  const list = { columns, rows, idOf: verification.idOf, chosen }
  const table = listTable(ui, { ...list, width, height: Math.max(1, height - 3) })
  return [head, table.head, ...table.body, why === '' ? blank : [dim(' reason  '), why]]
}

const checks = { ...verification, name: 'identity check', plural: 'identity checks' }

/** How long identity checks stay open, computed from the first open check. Empty if no check is open. */
function lifeWords(rows: readonly VerificationAttempt[]): string {
  const open = rows.find(isUnderWay)
  if (open === undefined) return ''
  return `end after ${Math.round((Date.parse(open.expires_at) - Date.parse(open.created_at)) / HOUR_MS)}h`
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

const undecided: Problem = { kind: 'failed', sentence: 'Choose a decision.', facts: [], next: [] }

/** Dialog that decides an identity check in the vendor's place (sandbox only). */
export function attemptDialog(host: Host, attempt: VerificationAttempt): DialogSpec {
  const { id, participant_id: participant } = attempt
  const [name, operator] = [text(attempt.name), text(attempt.operator_name)]
  return {
    title: 'DECIDE AN IDENTITY CHECK',
    about: `${id}  ${participant}`,
    facts: () => [
      ['attempt', id],
      ['of', name === '' ? participant : `${name}, ${participant}`],
      ['operator', operator || 'not named'],
      ['What it does', 'if approved, the participant gets the identity-verified tier'],
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

/** Dialog that adds a wallet to the manual blocklist or removes it from there. */
export function walletDialog(host: Host, change: 'add' | 'remove'): DialogSpec {
  const isAdded = change === 'add'
  return {
    title: isAdded ? 'REFUSE A WALLET' : 'REMOVE A MANUALLY BLOCKED WALLET',
    facts: () => [
      isAdded
        ? ['What it does', 'the wallet can no longer pay or be paid; payouts to it are blocked']
        : ['What it does', 'removes the manual entry; listed wallets stay blocked'],
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
            () => `${at} is blocked.`,
          )
        : ask(
            host.link,
            { name: 'removeSanction', asked: { params: { wallet: at } } },
            () => `${at} is no longer on the manual blocklist.`,
          )
    },
  }
}
