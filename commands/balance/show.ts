import { z } from 'zod'
import { ownHeaders } from '../../src/cli/account.ts'
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
    return session.row('getBalance', { method: 'GET', path: '/v1/balance', headers: await ownHeaders(session) })
  },
  view({ available, held, participant_id: id }, io) {
    io.line(`${id}   available ${bold(`$${available}`)}   on hold $${held}`)
  },
})
