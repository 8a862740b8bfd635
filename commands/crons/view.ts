import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import { cronState } from '../../src/cli/nouns/health.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { bold, nearest } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'crons view',
  summary: 'show one scheduled job with its last runs',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  options: z.object(watchOptions),
  examples: ['souk crons view auto-refund', 'souk crons view escrow-monitor --json'],
  async run(context) {
    const session = await context.session()
    const { crons } = await session.call('listCrons', {})
    const found = crons.find(({ name }) => name === context.args.cron)
    if (found) return found
    const near = nearest(
      context.args.cron,
      crons.map(({ name }) => name),
    )
    throw new CliError('not_found', `There is no cron ${context.args.cron}${near ? ` (did you mean ${near}?)` : ''}.`, {
      next: ['souk crons list'],
    })
  },
  rows: ({ runs }) => runs,
  view(cron, io) {
    io.line(`${bold(cron.name)}   ${cron.paused ? 'paused' : cronState(cron)}   ${cron.schedule}`)
    io.line(`  next      ${cron.next_run ?? 'not while it is paused'}`)
    for (const { at, result, took_ms: took, trigger, reason } of cron.runs) {
      io.line(`  ${at}  ${result}  ${took} ms  ${trigger}${reason === null ? '' : `  ${reason}`}`)
    }
  },
})
