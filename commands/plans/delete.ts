import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'plans delete',
  summary: 'delete one of your plans',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  examples: ['souk plans delete plan_0123456789abcdef --yes', 'souk plans delete plan_0123456789abcdef --yes --json'],
  prints: 'deletePlan',
  async run(context) {
    const { plan: id } = context.args
    const session = await context.session()
    await context.io.confirm(`Delete ${id}? Its subscriptions end with their paid period.`)
    return session.call('deletePlan', { params: { id } })
  },
  view: ({ plan_id: id }, io) => io.line(`${green('✓')} ${id} deleted; subscriptions end with their paid period`),
})
