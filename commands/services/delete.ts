import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services delete',
  summary: 'remove one of your listings',
  args: z.object({ service: z.string().meta({ description: 'id of the listing' }) }),
  examples: [
    'souk services delete svc_0123456789abcdef --yes',
    'souk services delete svc_0123456789abcdef --yes --json',
  ],
  prints: 'deleteService',
  async run(context) {
    const session = await context.session()
    await context.io.confirm(`Remove ${context.args.service}? Its jobs and their money stay.`)
    return session.call('deleteService', { params: { id: context.args.service } })
  },
  view: ({ service_id: id }, io) => io.line(`${green('✓')} ${id} removed`),
})
