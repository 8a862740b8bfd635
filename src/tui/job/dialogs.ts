import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome, Problem } from '../../client/link.ts'
import type { Json } from '../../core/json.ts'
import { MAX_PAGE } from '../../core/limits.ts'
import { formatPrice, netOfSplit, parseAmount, type Usdc, usdc } from '../../core/money.ts'
import type { Job } from '../../nouns/jobs.ts'
import { byteSize, clip, count, deadlineSpan, padEnd, safe, widthOf, wrap } from '../../text/text.ts'
import { bad, blank, dim, flat, good, type Line, strong, warn } from '../parts/line.ts'
import { shellCommand } from '../shell/ask.ts'
import { type DialogEvidence, type DialogSpec, type Field, needed, reasonField, type Values } from '../shell/dialog.ts'
import { ask } from '../shell/queries.ts'
import { type Fields, fields, list, word } from '../shell/read.ts'
import type { Host } from '../shell/screen.ts'
import { fetchPast, type Past, pastWords } from './past.ts'
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

/* What a ruling rests on: the promise, the delivery, both statements, and what both parties did before. */

type Bundle = WireAnswer<'getJobBundle'>
type Listing = WireAnswer<'getService'>

type DeskFacts = {
  readonly job: Job
  readonly bundle: Bundle
  /** Undefined if the listing is gone. */
  readonly listing: Listing | undefined
  readonly bought: Past | undefined
  readonly sold: Past | undefined
  /** What the buyer's signed offer and receipt prove, if the dispute has them. */
  readonly proof: Awaited<ReturnType<typeof proven>>
}

/** The evidence of a dispute. */
function deskOf(link: Link, job: Job): DialogEvidence {
  const got = <T>(outcome: Outcome<T>) => (outcome.ok ? outcome.value : undefined)
  return {
    name: `desk ${job.id}`,
    async fetch(signal) {
      const past = (participant: string | undefined, role: 'buyer' | 'provider') =>
        participant === undefined ? undefined : fetchPast(link, { participant, role, signal }).then(got)
      const [bundle, listing, bought, sold] = await Promise.all([
        ask(link, { name: 'getJobBundle', asked: { params: { id: job.id }, signal } }, (one) => one),
        ask(link, { name: 'getService', asked: { params: { id: job.service_id }, signal } }, (one) => one),
        past(job.buyer?.wallet, 'buyer'),
        past(job.provider_id, 'provider'),
      ])
      if (!bundle.ok) return bundle
      const proof = await proven(link, bundle.value, signal)
      const facts = { job, bundle: bundle.value, listing: got(listing), bought, sold, proof }
      return { ok: true, value: (width) => deskLines(facts, width) }
    },
  }
}

async function proven(link: Link, { job: { dispute }, payment }: Bundle, signal: AbortSignal) {
  if (!dispute?.proof) return undefined
  const manifest = await ask(link, { name: 'getManifest', asked: { signal } }, (one) => one)
  const { saleProof } = await import('../../client/spending/proofs.ts')
  return saleProof(dispute.proof, payment?.payer ?? '', manifest.ok ? manifest.value.signer : undefined)
}

const TITLE: Pair = ['', 'promised', 'delivered', '']

function deskLines(facts: DeskFacts, width: number): Line[] {
  const { deliverables = [] } = facts.bundle.job
  const { pairs, others } = comparison(facts.bundle, facts.listing)
  const rows = [...termsOf(facts), ...pairs, ...filesOf(facts.bundle)]
  const names = Math.min(LABEL_COLUMNS_MAX, Math.max(...rows.map(([label]) => widthOf(label))))
  const cells = { names, half: Math.floor((width - names - 6) / 2) }
  return [
    ...pairLines(TITLE, cells).map((line): Line => flat(line, 'strong')),
    ...rows.flatMap((row) => pairLines(row, cells)),
    ...(deliverables.length === 0 ? [[bad(' ✗ nothing was delivered')]] : []),
    ...others.flatMap((fault) => wrap(fault, width - 3).map((text, i): Line => [bad(i === 0 ? ' ✗ ' : '   '), text])),
    blank,
    ...statements(facts, width),
  ]
}

const LABEL_COLUMNS_MAX = 12
const CELL_LINES_MAX = 4
const CHARS_MAX = 2_000

/** Something promised beside what was delivered. `✗`: wrong or missing; `≠`: not the same. */
type Pair = readonly [label: string, promised: string, delivered: string, sign: '' | '≠' | '✗']
const tones = { '': dim, '≠': warn, '✗': bad } as const

type Cells = { readonly names: number; readonly half: number }

function pairLines([label, promised, delivered, sign]: Pair, { names, half }: Cells): Line[] {
  const [left, right] = [cellLines(promised, half), cellLines(delivered, half)]
  const tone = tones[sign]
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i): Line => {
    const head = dim(` ${padEnd(i === 0 ? clip(label, names) : '', names)}  `)
    const had = right[i] ?? ''
    return [head, padEnd(left[i] ?? '', half), tone(i === 0 ? padEnd(` ${sign}`, 3) : '   '), sign ? tone(had) : had]
  })
}

/** An id that would be cut is dropped whole. */
const CUT_ID = /\b[a-z]+_[0-9a-f]*…$/

function cellLines(text: string, width: number): readonly string[] {
  const shown = text.slice(0, width * (CELL_LINES_MAX + 1))
  const lines = wrap(shown, Math.max(1, width)).map((line) => line.replace(CUT_ID, '…'))
  return lines.length <= CELL_LINES_MAX
    ? lines
    : [...lines.slice(0, CELL_LINES_MAX - 1), `… ${count(text.length)} long`]
}

/** Compares what the listing or the agreement promises with the provider's notes on its delivery. */
function termsOf({ bundle, listing }: DeskFacts): Pair[] {
  const { job, thread } = bundle
  const { proposal } = thread
  const promise = proposal?.message || listing?.description || ''
  const time = proposal?.estimated_delivery ?? listing?.estimated_delivery ?? ''
  const [sent, done] = [job.dispatched_at ?? job.created_at, job.completed_at]
  const isLate = done !== null && Boolean(job.deadline_at) && Date.parse(done) > Date.parse(job.deadline_at ?? '')
  const took = done === null ? 'not yet' : `after ${deadlineSpan(Math.max(0, Date.parse(done) - Date.parse(sent)))}`
  return [
    [proposal ? 'agreement' : 'listing', safe(promise) || '—', safe(job.notes ?? ''), ''],
    ['time', safe(time) || '—', took, isLate ? '✗' : ''],
  ]
}

type Comparison = { readonly pairs: readonly Pair[] /** Faults without a pair. */; readonly others: readonly string[] }

/** Input and schema, member by member, beside the delivery. */
function comparison({ job, schema_report: report }: Bundle, listing: Listing | undefined): Comparison {
  const schema = fields(listing?.deliverable_schema)
  const members = schema.properties === undefined && schema.type === undefined ? schema : fields(schema.properties)
  const input = fields(job.input)
  const given = givenIn(job.deliverables ?? [])
  const faults = (report.deliverables?.details ?? []).slice(0, MAX_PAGE)
  const names = [...new Set([...Object.keys(members), ...Object.keys(input), ...given.keys()])].slice(0, MAX_PAGE)
  const memberOf = (path: string) => path.replace(/^\//, '').split(/[./]/)[0]
  const pairs = names.map((name): Pair => {
    const asked = own(input, name)
    const had = given.get(name)
    const broken = faults.filter(({ path }) => memberOf(path) === name).map(({ message }) => safe(message))
    const isMissing = had === undefined && given.size > 0 && list(schema.required).includes(name)
    const wrong = isMissing ? ['missing'] : broken
    const isOther = asked !== undefined && had !== undefined && JSON.stringify(asked) !== JSON.stringify(had)
    const [promised, delivered] = isOther ? fromDifference(plain(asked), plain(had)) : [plain(asked), plain(had)]
    const said = [delivered, ...wrong].filter(Boolean).join(' — ')
    const sign = isOther ? '≠' : ''
    return [safe(name), promised || word(fields(own(members, name)).type), said, wrong.length > 0 ? '✗' : sign]
  })
  const others = faults.filter(({ path }) => !names.includes(memberOf(path) ?? ''))
  return { pairs, others: others.map(({ path, message }) => safe(`${path} ${message}`)) }
}

const own = (object: Fields, name: string): Json | undefined => (Object.hasOwn(object, name) ? object[name] : undefined)

function plain(value: Json | undefined): string {
  if (value === undefined) return ''
  return safe((typeof value === 'string' ? value : JSON.stringify(value)).slice(0, CHARS_MAX))
}

/** Members of all deliverables. A deliverable without members becomes one member named `result`. */
function givenIn(deliverables: readonly Json[]): ReadonlyMap<string, Json> {
  const named = deliverables.slice(0, MAX_PAGE).flatMap((item, i): [string, Json][] => {
    const of = deliverables.length === 1 ? '' : ` (${i + 1})`
    const members = Object.entries(fields(item))
    return members.length === 0 ? [[`result${of}`, item]] : members.map(([name, value]) => [`${name}${of}`, value])
  })
  return new Map(named.slice(0, MAX_PAGE))
}

const COMMON_WORDS_KEPT = 3

/** Cuts the equal beginning of two texts, except a few words before their first difference. */
function fromDifference(one: string, other: string): readonly [string, string] {
  const [words, others] = [one.split(' '), other.split(' ')]
  const differs = words.findIndex((word, i) => word !== others[i])
  const from = (differs < 0 ? words.length : differs) - COMMON_WORDS_KEPT
  if (from <= COMMON_WORDS_KEPT) return [one, other]
  return [`… ${words.slice(from).join(' ')}`, `… ${others.slice(from).join(' ')}`]
}

/** Files of both parties. `*`: named as evidence. */
function filesOf({ files, job }: Bundle): Pair[] {
  return files.slice(-MAX_PAGE).map(({ file_id, name, size_bytes, author_role }) => {
    const shown = `${safe(name)} ${byteSize(size_bytes)}${job.dispute?.evidence.includes(file_id) ? ' ◆' : ''}`
    return author_role === 'provider' ? ['file', '', shown, ''] : ['file', shown, '', '']
  })
}

/** What each party says. The line above it has the party's name and history. */
function statements({ job, bundle, bought, sold, proof }: DeskFacts, width: number): Line[] {
  const { buyer, provider } = shownJob(job)
  const { dispute, thread } = bundle.job.dispute
    ? { ...bundle, dispute: bundle.job.dispute }
    : { ...bundle, dispute: job.dispute }
  const said = thread.messages?.findLast(({ author_role: role }) => role === 'provider')?.body
  const side = (name: string, words: string, past: Past | undefined): Line[] => [
    [' ', strong(clip(name, width - 2)), dim(past === undefined ? '' : `  ${pastWords(past)}`)],
    ...wrap(words, width - 4).map((text): Line => ['   ', text]),
  ]
  return [
    ...side(buyer, `${dispute?.category ?? ''}: "${safe(dispute?.reason ?? '')}"`, bought),
    ...(proof === undefined
      ? []
      : wrap(`proof: ${safe(proof.text)}`, width - 4).map(
          (text): Line => ['   ', proof.isValid ? good(text) : bad(text)],
        )),
    ...side(provider, said === undefined ? 'has not answered' : `"${safe(said)}"`, sold),
    ...(dispute?.evidence.length === 0 ? [] : [[good(' ◆ '), dim('named as evidence')] as Line]),
  ]
}
