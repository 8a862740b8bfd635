import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { bold, cyan } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'balance show',
  summary: 'show the pre-funded balance',
  isDefault: true,
  args: z.object({}),
  options: z.object(watchOptions),
  examples: ['souk balance', 'souk balance show --json'],
  async run(context) {
    const session = await context.session()
    return session.call('getBalance', {})
  },
  view({ available, held, participant_id: id }, io) {
    io.line(`${id}   available ${bold(`$${available}`)}   on hold $${held}`)
    const next = ['souk balance history', 'souk balance deposit 1.00', 'souk balance withdraw all']
    io.note(`  next: ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})
