import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green, red } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'money audit',
  summary: 'recompute the books and report differences',
  description: 'Needs the admin key of the instance.',
  options: z.object({
    exitStatus: z.boolean().default(false).meta({ description: 'exit with code 11 if a check fails' }),
  }),
  examples: ['souk money audit', 'souk money audit --exit-status --json'],
  prints: 'getAudit',
  async run(context) {
    const report = await (await context.session()).call('getAudit', {})
    if (context.options.exitStatus && !report.ok) context.exit('check_failed')
    return report
  },
  view(report, io) {
    for (const { name, ok, detail } of report.checks) io.line(`${ok ? green('✓') : red('✗')} ${name}   ${detail}`)
    io.line(`${report.transactions} transactions, ${report.accounts} accounts, as of ${report.as_of.at}`)
  },
})
