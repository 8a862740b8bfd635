import { defineCommand } from '../../src/cli/command.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import { columnsOf, pageOptions, showPage } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { freeReader } from '../../src/cli/wallet/signing-in.ts'
import type { Queried } from '../../src/client/call.ts'
import { job } from '../../src/nouns/jobs.ts'

export const command = defineCommand({
  name: 'jobs list',
  summary: 'list your jobs as buyer and provider, newest first',
  description: 'Without an account, the wallet signs in for free.',
  options: z.object({
    status: z.string().optional().meta({ description: 'only in this state, such as dispatched', value: 'state' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'only as buyer or as provider' }),
    ...pageOptions,
    ...watchOptions,
  }),
  examples: ['souk jobs list', 'souk jobs list --role buyer --status completed --json'],
  prints: 'listJobs',
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
  columns: columnsOf(job, 'own'),
  view: (page, io) => showPage(job, page, { io, place: 'own' }),
})
