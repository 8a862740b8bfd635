import { jobFields } from '../../../src/api/endpoint/list-fields.ts'
import { jobOrders } from '../../../src/api/endpoint/list-orders.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import type { FetchedJob } from '../../../src/cli/nouns/jobs/jobs.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { jobStatuses } from '../../../src/model/job.ts'

const columns: readonly Column<FetchedJob>[] = [
  { title: 'JOB', value: ({ job_id }) => job_id },
  { title: 'SERVICE', value: ({ service_name, service_id }) => service_name ?? service_id, flexible: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'AMOUNT', value: ({ amount }) => amount && `$${amount}`, align: 'right' },
  { title: 'ESCROW', value: ({ escrow }) => escrow?.status, drop: 2 },
  { title: 'NEXT', value: ({ escrow }) => escrow?.next_event, drop: 1 },
]

export const command = defineCommand({
  name: 'admin jobs list',
  summary: 'list all jobs, newest first',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: z.enum(jobStatuses).optional().meta({ description: 'only in this state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'only of this participant, by id or wallet', value: 'id' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'role of that participant' }),
    ...searchedPageOptions(jobFields, jobOrders),
  }),
  examples: [
    'souk admin jobs list',
    'souk admin jobs list --status disputed --json',
    'souk admin jobs list --sort worst',
    'souk admin jobs list --filter "late:yes amount:>1" --sort -amount',
  ],
  async run(context) {
    const { status, participant, role } = context.options
    return (await context.session()).call('listAllJobs', {
      query: {
        ...searchedPage(context.options),
        ...compact({ status, participant, role }),
      },
    })
  },
  rows: ({ jobs }) => jobs,
  columns,
  view(page, io) {
    printRows(io, columns, page.jobs)
    io.note(listNote(page, page.jobs.length, 'no such job'))
  },
})
