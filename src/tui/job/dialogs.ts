import type { Problem } from '../../client/link.ts'
import { formatPrice, netOfSplit, parseAmount, type Usdc, usdc } from '../../core/money.ts'
import type { Job } from '../../nouns/jobs.ts'
import { clip } from '../../text/text.ts'
import { type DialogSpec, type Field, needed, reasonField, type Values } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import { deskOf } from './desk.ts'
import { shownJob } from './rows.ts'

const outcomes = ['refund', 'release', 'split'] as const

/**
 * Dialog that decides a dispute. The money moves immediately, and this cannot be undone. Then the next dispute opens.
 * @param decided - ids of the disputes already decided in this series
 */
export function rulingDialog(host: Host, job: Job, decided: readonly string[] = []): DialogSpec {
  const { service, amount, buyer, provider } = shownJob(job)
  const what = `${job.id}  ${clip(service, 30)}`
  return {
    title: 'DECIDE A DISPUTE',
    heading: `DECIDE A DISPUTE  ${clip(buyer, NAME_COLUMNS_MAX)} against ${clip(provider, NAME_COLUMNS_MAX)}, ${amount}`,
    about: what,
    amount,
    evidence: deskOf(host.link, job),
    facts: () => [
      ['job', what],
      ['held', amount],
    ],
    fields: [outcomeField(job), buyerField(job), reason],
    verb: 'Decide',
    command: ({ outcome = '', buyer = '', reason = '' }) => {
      const split = outcome === 'split' ? ['--buyer-amount', typedAmount(buyer) || '…'] : []
      const words = ['--outcome', outcome || '…', ...split, '--reason', reason.trim() || '…']
      return shellCommand(host, ['admin', 'jobs', 'resolve', job.id, ...words])
    },
    send: async (values) => {
      const { buyer = '', reason = '' } = values
      const outcome = outcomes.find((one) => one === values.outcome)
      if (outcome === undefined) return { ok: false, problem: undecided }
      const share = outcome === 'split' ? { buyer_amount: typedAmount(buyer) } : {}
      const asked = { params: { id: job.id }, body: { outcome, reason: reason.trim(), ...share } }
      const [effect = ''] = effectsOf(job, outcome, values)
      const said = `${effect}.  → v all, tab money`
      return ask(host.link, { name: 'resolveJob', asked }, ({ status }) => `Now ${status}: ${said}`)
    },
    async next() {
      const query = { filter: 'status:disputed', sort: 'worst', limit: '50' } as const
      const found = await ask(host.link, { name: 'listAllJobs', asked: { query } }, ({ jobs }) => jobs)
      const done = [...decided, job.id]
      const other = found.ok ? found.value.find(({ id }) => !done.includes(id)) : undefined
      return other && rulingDialog(host, other, done)
    },
  }
}

const NAME_COLUMNS_MAX = 16
const undecided: Problem = { kind: 'failed', sentence: 'Choose an outcome.', facts: [], next: [] }

function outcomeField(job: Job): Field {
  const wordsOf = (choice: string, values: Values) => effectsOf(job, choice, values)
  return needed({ name: 'outcome', label: 'Outcome', choices: outcomes, wordsOf }, 'an outcome')
}

function buyerField(job: Job): Field {
  const { amount } = shownJob(job)
  return {
    name: 'buyer',
    label: 'Split: the buyer gets',
    check: (value, { outcome }) => {
      if (outcome !== 'split') return value === '' ? undefined : 'only a split takes an amount'
      return splitOf(job, value) === undefined ? `needs 0 to ${amount}` : undefined
    },
  }
}

const reason = reasonField('Reason (both parties read it)')

function typedAmount(typed: string): string {
  return typed.replace('$', '')
}

type Split = { readonly buyer: Usdc; readonly provider: Usdc; readonly fee: Usdc }

/** What a split pays. Undefined unless a valid amount is typed. */
export function splitOf({ amount: held = '', provider_amount: most = '' }: Job, typed: string): Split | undefined {
  const [toBuyer, amount, net] = [parseAmount(typed), parseAmount(held), parseAmount(most)]
  if (toBuyer === undefined || amount === undefined || net === undefined || toBuyer > amount) return undefined
  const provider = netOfSplit({ amount, net, toBuyer })
  return { buyer: toBuyer, provider, fee: usdc(amount - toBuyer - provider) }
}

/** Who gets how much by a ruling, in several wordings, the longest first. */
function effectsOf(job: Job, outcome: string, { buyer: typed = '' }: Values): readonly string[] {
  const { amount, providerAmount, fee, ...names } = shownJob(job)
  const [buyer, provider] = [clip(names.buyer, NAME_COLUMNS_MAX), clip(names.provider, NAME_COLUMNS_MAX)]
  if (outcome === 'refund') return [`${buyer} gets ${amount} back`, `buyer ${amount}`]
  if (outcome === 'release') return [`${provider} gets ${providerAmount}, fee ${fee}`, `provider ${providerAmount}`]
  const split = splitOf(job, typed)
  if (split === undefined) return ['both get a part: type how much the buyer gets', 'type the buyer’s part']
  const [back, paid, kept] = [split.buyer, split.provider, split.fee].map(formatPrice)
  return [`${buyer} gets ${back}, ${provider} ${paid}, fee ${kept}`, `buyer ${back}, provider ${paid}`, `buyer ${back}`]
}

/** Whether the job holds money that can be refunded. */
export function canGiveBack({ escrow }: Job): boolean {
  return escrow?.status === 'held'
}

/** Dialog that refunds the held money of a job immediately. This cannot be undone. */
export function withdrawDialog(host: Host, job: Job): DialogSpec {
  const { service, buyer, provider, amount } = shownJob(job)
  const what = `${job.id}  ${clip(service, 30)}`
  return {
    title: 'REFUND THE BUYER',
    about: what,
    amount,
    facts: () => [
      ['job', what],
      ['it is', job.status.replaceAll('_', ' ')],
      ['held', `${amount}, paid by ${buyer} for ${provider}`],
      ['What happens', `${buyer} is refunded ${amount}, ${provider} gets nothing, and the job ends`],
      ['Also', 'works even while escrow is paused; cannot be undone'],
    ],
    fields: [reason],
    verb: 'Give back',
    command: ({ reason = '' }) =>
      shellCommand(host, ['admin', 'jobs', 'emergency-withdraw', job.id, '--reason', reason.trim() || '…']),
    send: ({ reason = '' }) => {
      const asked = { params: { id: job.id }, body: { reason: reason.trim() } }
      const said = `${buyer} gets ${amount} back.`
      return ask(host.link, { name: 'withdrawJob', asked }, ({ status }) => `Now ${status}: ${said}`)
    },
  }
}
