import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import type { Io } from '../../../src/cli/io.ts'
import * as z from '../../../src/cli/params.ts'
import { writePrivate } from '../../../src/client/files.ts'
import { formatAmount, parseAmount, usdc, ZERO } from '../../../src/core/money.ts'
import { rulings } from '../../../src/model/job.ts'
import { bold, byteSize, cyan, green, red } from '../../../src/text/text.ts'

const BUNDLE_NAME = 'bundle.json'

export const command = defineCommand({
  name: 'admin jobs bundle',
  summary: 'collect the evidence of a dispute in one document',
  description:
    'Includes the job, schema report, deliverable hashes, messages, payment and ledger postings. Needs the admin key. Saving the private conversation files is logged.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    output: z
      .string()
      .optional()
      .meta({ short: 'o', description: 'write to this file, readable by you only', value: 'file' }),
    save: z.string().optional().meta({
      description: 'folder to write bundle.json and the conversation files to',
      value: 'folder',
    }),
  }),
  examples: [
    'souk admin jobs bundle job_0123456789abcdef',
    'souk admin jobs bundle job_0123456789abcdef --save ./evidence --yes',
    'souk admin jobs bundle job_0123456789abcdef -o bundle.json --json',
  ],
  async run(context) {
    const session = await context.session()
    const bundle = await session.call('getJobBundle', { params: { id: context.args.job } })
    const { output, save: dir } = context.options
    if (dir === undefined) return output === undefined ? bundle : { ...bundle, saved: save(output, bundle) }
    const { saveEvidence } = await import('../../../src/cli/nouns/evidence.ts')
    const saved_files = await saveEvidence(context, session, { files: bundle.files, dir })
    return { ...bundle, saved: save(output ?? join(dir, BUNDLE_NAME), bundle), saved_files }
  },
  view(bundle, io) {
    const { job, schema_report: report, deliverable_hashes: hashes, thread, files, postings } = bundle
    io.line(`${bold(job.job_id)}   ${job.status}   ${job.service_name ?? job.service_id}   $${job.amount ?? '0.00'}`)
    if (job.dispute) io.line(`  dispute   ${job.dispute.status}: ${job.dispute.category}   ${job.dispute.reason}`)
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

type Ruled = Pick<WireAnswer<Api['getJobBundle']>['job'], 'job_id' | 'amount' | 'dispute'>

/** The ways to end a dispute; which one, and why, is for whoever read the document. */
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
  io.line(
    `  ${title.padEnd(9)} ${report.ok ? green('as promised') : red(`${first?.path ?? ''} ${first?.message ?? ''}`)}`,
  )
}

/** The file can be named by its hash where it is handed on. */
function save(file: string, bundle: object) {
  const text = `${JSON.stringify(bundle, null, 2)}\n`
  writePrivate(file, text)
  return { file, bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') }
}
