import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { bold } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'balance show',
  summary: 'show the pre-funded balance',
  isDefault: true,
  args: z.object({}),
  options: z.object({}),
  examples: ['souk balance', 'souk balance show --json'],
  async run(context) {
    const session = await context.session()
    return session.call('getBalance', {})
  },
  view({ available, held, participant_id: id }, io) {
    io.line(`${id}   available ${bold(`$${available}`)}   on hold $${held}`)
  },
})
