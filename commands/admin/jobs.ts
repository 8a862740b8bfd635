import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { jobFields } from '../../src/api/endpoint/list-fields.ts'
import { jobOrders } from '../../src/api/endpoint/list-orders.ts'
import type { WireAnswer } from '../../src/api/index.ts'
import { andJson, defineCall, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import type { Io } from '../../src/cli/io.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { writePrivate } from '../../src/client/files.ts'
import { formatAmount, formatPrice, netOfSplit, parseAmount, usdc, ZERO } from '../../src/core/money.ts'
import { compact } from '../../src/core/record.ts'
import { jobStatuses, rulings } from '../../src/model/job.ts'
import { job } from '../../src/nouns/jobs.ts'
import { bold, byteSize, cyan, green, red } from '../../src/text/text.ts'

const BUNDLE_NAME = 'bundle.json'

export const adminJobsBundle = defineCommand({
  name: 'admin jobs bundle',
  summary: 'collect the evidence of a dispute in one document',
  description:
    'Includes the job, schema report, deliverable hashes, messages, payment and ledger postings. Needs the admin key. Saving the private conversation files is logged.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    output: z.text({ short: 'o', description: 'write to this file, readable by you only', value: 'file' }),
    save: z.text({ description: 'folder to write bundle.json and the conversation files to', value: 'folder' }),
  }),
  examples: [
    'souk admin jobs bundle job_0123456789abcdef',
    'souk admin jobs bundle job_0123456789abcdef --save ./evidence --yes',
    'souk admin jobs bundle job_0123456789abcdef -o bundle.json --json',
  ],
  async run(context) {
    const session = await context.session()
    const found = await session.call('getJobBundle', { params: { id: context.args.job } })
    const bundle = { ...found, ...compact({ proof: await provenBy(session, found) }) }
    const { output, save: dir } = context.options
    if (dir === undefined) return output === undefined ? bundle : { ...bundle, saved: save(output, bundle) }
    const { saveEvidence } = await import('../../src/cli/nouns/evidence.ts')
    const saved_files = await saveEvidence(context, session, { files: bundle.files, dir })
    return { ...bundle, saved: save(output ?? join(dir, BUNDLE_NAME), bundle), saved_files }
  },
  view(bundle, io) {
    const { job, schema_report: report, deliverable_hashes: hashes, thread, files, postings } = bundle
    io.line(`${bold(job.job_id)}   ${job.status}   ${job.service_name ?? job.service_id}   $${job.amount ?? '0.00'}`)
    if (job.dispute) io.line(`  dispute   ${job.dispute.status}: ${job.dispute.category}   ${job.dispute.reason}`)
    if (bundle.proof) io.line(`  proof     ${bundle.proof}`)
    showReport(io, 'input', report.input)
    showReport(io, 'delivered', report.deliverables)
    for (const { index, bytes, sha256 } of hashes) io.line(`  part ${index}    ${byteSize(bytes)}   sha256 ${sha256}`)
    for (const { file_id, name, size_bytes, sha256 } of files) {
      io.line(`  file      ${file_id}   ${name}   ${byteSize(size_bytes)}   sha256 ${sha256}`)
    }
    io.line(`  messages  ${thread.messages?.length ?? 0}   postings ${postings.length}`)
    for (const { file, sha256 } of 'saved_files' in bundle ? bundle.saved_files : []) {
      io.line(`${green('✓')} ${io.path(file)}   sha256 ${sha256}`)
    }
    for (const line of rulingLines(job)) io.note(`  → ${cyan(io.hint(line))}`)
    if ('saved' in bundle) io.line(`${green('✓')} ${io.path(bundle.saved.file)}   sha256 ${bundle.saved.sha256}`)
  },
})

async function provenBy(session: Session, { job: { dispute }, payment }: WireAnswer<'getJobBundle'>) {
  if (!dispute?.proof) return undefined
  const { saleProof } = await import('../../src/client/spending/proofs.ts')
  const { signer } = await session.call('getManifest', {})
  return (await saleProof(dispute.proof, payment?.payer ?? '', signer)).text
}

type Ruled = Pick<WireAnswer<'getJobBundle'>['job'], 'job_id' | 'amount' | 'dispute'>

/** One command for each possible ruling. The order is fixed, so that no ruling is recommended. */
function rulingLines({ job_id: id, amount = '0.00', dispute }: Ruled): readonly string[] {
  if (dispute?.status !== 'open') return []
  const half = formatAmount(usdc((parseAmount(amount) ?? ZERO) / 2n))
  return rulings.map((outcome) => {
    const share = outcome === 'split' ? ` --buyer-amount ${half}` : ''
    return `souk admin jobs resolve ${id} --outcome ${outcome}${share} --reason "..."`
  })
}

type Report = { readonly ok: boolean; readonly details: readonly { path: string; message: string }[] }

function showReport(io: Io, title: string, report: Report | null): void {
  if (report === null) return
  const [first] = report.details
  io.line(`  ${title.padEnd(9)} ${report.ok ? green('matches') : red(`${first?.path ?? ''} ${first?.message ?? ''}`)}`)
}

/** Writes the evidence bundle to a private file, and returns its SHA-256 so that people can cite the file. */
function save(file: string, bundle: object) {
  const text = `${JSON.stringify(bundle, null, 2)}\n`
  writePrivate(file, text)
  return { file, bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') }
}

export const adminJobsEmergencyWithdraw = defineCall({
  name: 'admin jobs emergency-withdraw',
  summary: 'refund a job from escrow to its buyer, even while escrow is paused',
  description:
    'Needs the admin key of the instance. Asks for confirmation: money moves immediately and cannot be returned.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    reason: z.string().meta({ description: 'reason, shown to both parties and in the log', value: 'text' }),
  }),
  examples: andJson(
    'souk admin jobs emergency-withdraw job_0123456789abcdef --reason "The provider is gone" --dry-run --yes',
  ),
  asks: 'withdrawJob',
  asked: ({ args, options }) => ({ params: { id: args.job }, body: { reason: options.reason } }),
  confirms: ({ args }, { target }) => `Refund the money held for ${args.job} to its buyer, at ${target.name}?`,
  view({ job_id, status, escrow }, io) {
    io.line(`${green('✓')} ${bold(job_id)} is ${status}   escrow ${escrow?.status ?? 'none'}`)
  },
})

export const adminJobsList = listCommand(job, {
  name: 'admin jobs list',
  search: searchOptions(jobFields, jobOrders),
  summary: 'list all jobs, newest first',
  options: {
    status: z.choice(jobStatuses, { description: 'only in this state', value: 'state' }),
    participant: z.text({ description: 'only of this participant, by id or wallet', value: 'id' }),
    role: z.choice(['buyer', 'provider'], { description: 'role of the participant in the job' }),
  },
  examples: [
    'souk admin jobs list',
    'souk admin jobs list --status disputed --json',
    'souk admin jobs list --sort worst',
    'souk admin jobs list --filter "late:yes amount:>1" --sort -amount',
  ],
})

export const adminJobsResolve = defineCall({
  name: 'admin jobs resolve',
  summary: 'decide a dispute: pay the provider, refund the buyer, or split',
  description:
    'Needs the admin key of the instance. Asks for confirmation: money moves immediately and cannot be returned.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    outcome: z.enum(rulings).meta({ description: 'outcome; release pays the provider' }),
    buyerAmount: z.text({ description: 'amount that a split refunds to the buyer', value: 'usd' }),
    reason: z.string().meta({ description: 'reason, for both parties', value: 'text' }),
  }),
  examples: [
    'souk admin jobs resolve job_0123456789abcdef --outcome refund --reason "Nothing was delivered" --yes',
    'souk admin jobs resolve job_0123456789abcdef --outcome split --buyer-amount 0.10 --reason "Half of it" --yes --json',
  ],
  asks: 'resolveJob',
  asked({ args, options: { outcome, buyerAmount, reason } }) {
    if ((outcome === 'split') !== (buyerAmount !== undefined)) {
      throw usage(outcome === 'split' ? 'A split needs --buyer-amount.' : '--buyer-amount is for a split only.')
    }
    return { params: { id: args.job }, body: { outcome, reason, ...compact({ buyer_amount: buyerAmount }) } }
  },
  confirms: ({ args, options }, { target }) => `Resolve ${args.job} by ${options.outcome} at ${target.name}?`,
  view(job, io) {
    const { job_id, status, escrow, dispute } = job
    io.line(`${green('✓')} ${bold(job_id)} is ${status}   escrow ${escrow?.status ?? 'none'}   ${sharesOf(job)}`)
    if (dispute?.resolution_reason) io.line(`  ${dispute.resolution ?? ''}: ${dispute.resolution_reason}`)
  },
})

function sharesOf({ dispute, amount: paid = '', provider_amount = '' }: WireAnswer<'resolveJob'>): string {
  const usdOf = (text: string | null) => parseAmount(text ?? '') ?? ZERO
  const [amount, net] = [usdOf(paid), usdOf(provider_amount)]
  const toBuyer = dispute?.resolution === 'refund' ? amount : usdOf(dispute?.buyer_amount ?? '')
  return `buyer gets ${formatPrice(toBuyer)}, provider ${formatPrice(netOfSplit({ amount, net, toBuyer }))}`
}
