import { z } from 'zod'
import { ownHeaders } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services delete',
  summary: 'remove one of your listings',
  args: z.object({ service: z.string().meta({ description: 'id of the listing' }) }),
  options: z.object({}),
  examples: [
    'souk services delete svc_0123456789abcdef --yes',
    'souk services delete svc_0123456789abcdef --yes --json',
  ],
  async run(context) {
    const session = await context.session()
    const headers = await ownHeaders(session)
    await context.io.confirm(`Remove ${context.args.service}? Its jobs and their money stay.`)
    return session.row('deleteService', {
      method: 'DELETE',
      path: '/v1/services/:id',
      params: { id: context.args.service },
      headers,
    })
  },
  view: ({ service_id: id }, io) => io.line(`${green('✓')} ${id} removed`),
})
