import { defineCommand } from '../../src/cli/command.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import type { FetchedJob } from '../../src/cli/nouns/jobs/jobs.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { freeReader } from '../../src/cli/wallet/signing-in.ts'
import type { Queried } from '../../src/client/call.ts'

const PAGE_ROWS_MAX = 100

const columns: readonly Column<FetchedJob>[] = [
  { title: 'JOB', value: ({ job_id }) => job_id },
  { title: 'SERVICE', value: ({ service_name, service_id }) => service_name ?? service_id, flexible: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'AMOUNT', value: ({ amount }) => (amount === undefined ? null : `$${amount}`), align: 'right' },
  { title: 'CREATED', value: ({ created_at }) => created_at, drop: 1 },
]

export const command = defineCommand({
  name: 'jobs list',
  summary: 'list your jobs as buyer and provider, newest first',
  description: 'Without an account, the wallet signs in for free.',
  args: z.object({}),
  options: z.object({
    status: z.string().optional().meta({ description: 'only in this state, such as dispatched', value: 'state' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'only as buyer or as provider' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
    ...watchOptions,
  }),
  examples: ['souk jobs list', 'souk jobs list --role buyer --status completed --json'],
  async run(context) {
    const { limit, page, status, role } = context.options
    const session = await context.session()
    const key = await session.apiKey()
    const read = freeReader(context, session)
    const answer = await read('listJobs', {
      query: unjudged<Queried<'listJobs'>>({ status, role, limit, offset: (page - 1) * limit }),
      headers: key === undefined ? {} : { 'x-api-key': key },
    })
    // Where nothing opens it, the key that is missing is told.
    return answer ?? session.call('listJobs', {})
  },
  rows: ({ jobs }) => jobs,
  columns,
  view({ jobs, total, offset }, io) {
    printRows(io, columns, jobs)
    io.note(jobs.length === 0 ? 'no such job' : `${offset + 1} to ${offset + jobs.length} of ${total}`)
  },
})
