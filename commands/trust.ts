import type { WireAnswer } from '../src/api/index.ts'
import { parseAnswer } from '../src/cli/answer.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import { kinds } from '../src/cli/naming/kinds.ts'
import { idOf } from '../src/cli/naming/resolve.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import type { Asked } from '../src/client/asked.ts'
import { replaceFile } from '../src/client/files.ts'
import { formatAmount } from '../src/core/money.ts'
import { bold, byteSize, green, red, yellow } from '../src/text/text.ts'

type DocumentEndpoint = 'getEvidence' | 'getFeedbackFile'

export type WantedDocument<K extends DocumentEndpoint> = {
  readonly endpoint: K
  readonly asked: Asked<K>
  /** Hash that the document must have (default: the hash that the instance states). */
  readonly hash?: string
}

/** A published document; `ok` is null if its hash was not checked. */
export type ShownDocument = {
  readonly hash: string
  readonly computed: string | null
  readonly ok: boolean | null
  readonly bytes: number
  readonly saved: string | null
  /** Untrusted content; only its hash is checked. */
  readonly document: unknown
}

/** Fetches a document; with `check`, also computes its hash. @throws AppError not_found */
export async function readDocument<K extends DocumentEndpoint>(
  context: CommandContext<unknown, { readonly check: boolean; readonly save?: string | undefined }>,
  wanted: WantedDocument<K>,
): Promise<ShownDocument> {
  const session = await context.session()
  const response = await session.open(wanted.endpoint, wanted.asked)
  const bytes = await response.bytes()
  const text = new TextDecoder().decode(bytes)
  const { headers } = response
  const hash = wanted.hash ?? headers.etag?.replaceAll('"', '') ?? ''
  const { check, save } = context.options
  const computed = check ? (await import('../src/core/keccak.ts')).keccak256(bytes) : null
  if (computed !== null && computed !== hash) context.exit('check_failed')
  if (save !== undefined) replaceFile(save, bytes)
  return {
    hash,
    computed,
    ok: computed === null ? null : computed === hash,
    bytes: bytes.length,
    saved: save ?? null,
    document: (parseAnswer(text) ?? { value: text }).value,
  }
}

export function showDocument({ hash, computed, ok, bytes, saved, document }: ShownDocument, io: Io): void {
  io.line(`${bold(hash)}   ${byteSize(bytes)}`)
  if (ok === true) io.line(`${green('✓')} the keccak-256 hash matches`)
  if (ok === false) io.line(`${red('✗')} the keccak-256 hash is ${computed}`)
  if (saved !== null) io.line(`  saved     ${io.path(saved)}`)
  io.line(JSON.stringify(document, null, 2))
}

export type ReputationAnswer = WireAnswer<'getReputation'>

const ROOT = /^0x[0-9a-fA-F]{64}$/

const publishedOptions = z.object({
  check: z.flag({ description: 'recompute the keccak-256 hash; exit with code 11 if it differs' }),
  save: z.text({ description: 'save the file under this name', value: 'file' }),
})

export const trustEvidence = defineCommand({
  name: 'trust evidence',
  summary: 'show the evidence behind a score',
  description: 'Evidence about many jobs spans several documents; `previous` links to the earlier one.',
  args: z.object({ root: z.string().meta({ description: 'root hash, or wallet or id of the scored participant' }) }),
  options: publishedOptions,
  examples: [
    'souk trust evidence 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'souk trust evidence 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef --check --json',
  ],
  async run(context) {
    const { root: word } = context.args
    const root = ROOT.test(word) ? word.toLowerCase() : await latestRoot(context, word)
    return readDocument(context, { endpoint: 'getEvidence', asked: { params: { root } }, hash: root })
  },
  view: showDocument,
})

async function latestRoot(context: CommandContext<unknown, unknown>, word: string): Promise<string> {
  const session = await context.session()
  const params = { wallet: await idOf({ ...context, asAdmin: false }, kinds.wallet, word) }
  const verdict = await session.call('getReputation', { params })
  // Only a hash may become part of a path, since the value comes from the instance.
  if (verdict.evidence_root !== null && ROOT.test(verdict.evidence_root)) return verdict.evidence_root
  throw new CliError('not_found', `No evidence for ${word}: it has no rated jobs yet.`)
}

export const trustFeedback = defineCommand({
  name: 'trust feedback',
  summary: 'show the ERC-8004 feedback file of a job',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: publishedOptions,
  examples: ['souk trust feedback job_0123456789abcdef', 'souk trust feedback job_0123456789abcdef --check --json'],
  run: (context) =>
    readDocument(context, { endpoint: 'getFeedbackFile', asked: { params: { jobId: context.args.job } } }),
  view: showDocument,
})

export const trustOnchain = defineCommand({
  name: 'trust onchain',
  summary: 'show the on-chain reputation of a wallet',
  pays: 'getOnchainReputation',
  description: "Summarises the feedback to the wallet's ERC-8004 identity and the on-chain anchors of its verdicts.",
  args: z.object({ wallet: z.string().meta({ description: 'address, participant id or wallet name' }) }),
  examples: ['souk trust onchain p_0123456789abcdef', 'souk trust onchain p_0123456789abcdef --json'],
  async run(context) {
    const session = await context.session()
    const params = { wallet: context.args.wallet }
    const { answer: found, payment } = await pay(context, session, {
      endpoint: 'getOnchainReputation',
      asked: { params },
    })
    const { method, amount } = payment
    return { ...found, call_payment: { method, amount: formatAmount(amount), asset: 'USDC' } }
  },
  view(data, io) {
    const { wallet, agent_id: agent, agent_registry: registry, summaries, anchors, call_payment: paid } = data
    io.line(`${bold(wallet)}   ${agent === null ? 'no identity is linked' : `agent ${agent} of ${registry}`}`)
    printRows(
      io,
      [
        { title: 'TAG', value: ({ tag1 }) => tag1 },
        { title: 'TYPE', value: ({ tag2 }) => (tag2 === '' ? 'all' : tag2) },
        { title: 'COUNT', value: ({ count }) => count, align: 'right' },
        { title: 'MEAN', value: ({ value, value_decimals: decimals }) => value / 10 ** decimals, align: 'right' },
      ],
      summaries,
    )
    for (const { seq, root, anchored_at: at } of anchors) io.line(`anchor ${seq}   ${root}   ${at}`)
    io.note(`  paid $${paid.amount} for the call`)
  },
})

/** Wallets per request. */
const BATCH = 20
const MAX_SCORE = 100

const colors: Partial<Record<ReputationAnswer['verdict'], (text: string) => string>> = {
  verified: green,
  degraded: yellow,
  failed: red,
}

const columns: readonly Column<ReputationAnswer>[] = [
  { title: 'WALLET', value: ({ wallet }) => wallet },
  { title: 'VERDICT', value: ({ verdict }) => colors[verdict]?.(verdict) ?? verdict, plain: ({ verdict }) => verdict },
  { title: 'SCORE', value: ({ score }) => score, align: 'right' },
  { title: 'LEVEL', value: ({ level, level_name }) => `${level} ${level_name}`, drop: 1 },
  { title: 'CONF', value: ({ confidence }) => confidence.toFixed(2), align: 'right', drop: 2 },
  {
    title: 'FLAGS',
    value: ({ risk_flags, disputed }) => [...risk_flags, ...(disputed ? ['disputed'] : [])].join(' '),
    drop: 3,
  },
]

export const trustShow = defineCommand({
  name: 'trust show',
  isDefault: true,
  summary: 'show the trust verdict on wallets',
  description:
    'A verdict is valid until its expires_at. The score is 100, 50 or 0, or absent if there is too little evidence.',
  args: z.object({
    wallets: z.array(z.string()).min(1).meta({ description: 'addresses, participant ids or wallet names' }),
  }),
  options: z.object({
    exitStatus: z.flag({ description: 'exit with code 11 unless all wallets are verified or reach --min-score' }),
    minScore: z.int().optional().meta({ description: 'lowest accepted score, with --exit-status' }),
  }),
  examples: [
    'souk trust p_0123456789abcdef',
    'souk trust p_0123456789abcdef 0x00000000000000000000000000000000000000a1 --json',
    'souk trust show p_0123456789abcdef --json --fields verdict,score',
  ],
  async run(context) {
    const { exitStatus, minScore } = context.options
    if (minScore !== undefined && !exitStatus) throw usage('--min-score needs --exit-status.')
    if (minScore !== undefined && (minScore < 0 || minScore > MAX_SCORE)) throw usage('--min-score is 0 to 100.')
    const verdicts = await verdictsOn(await context.session(), context.args.wallets)
    if (exitStatus && !verdicts.every((one) => isEnough(one, minScore))) context.exit('check_failed')
    const [only] = verdicts
    return verdicts.length === 1 && only ? only : { verdicts, total: verdicts.length }
  },
  rows: (data) => listOf(data),
  columns,
  view: (data, io) => printRows(io, columns, listOf(data)),
})

type Shown = ReputationAnswer | { readonly verdicts: readonly ReputationAnswer[]; readonly total: number }

function listOf(data: Shown): readonly ReputationAnswer[] {
  return 'verdicts' in data ? data.verdicts : [data]
}

function isEnough({ verdict, score }: ReputationAnswer, least: number | undefined): boolean {
  return least === undefined ? verdict === 'verified' : score !== null && score >= least
}

async function verdictsOn(session: Session, wallets: readonly string[]): Promise<ReputationAnswer[]> {
  const [only] = wallets
  if (wallets.length === 1 && only) return [await session.call('getReputation', { params: { wallet: only } })]
  const found: ReputationAnswer[] = []
  for (let from = 0; from < wallets.length; from += BATCH) {
    const body = { wallets: wallets.slice(from, from + BATCH) }
    const { verdicts } = await session.call('getReputations', { body })
    found.push(...verdicts)
  }
  return found
}
