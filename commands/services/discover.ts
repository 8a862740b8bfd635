import { defineCommand } from '../../src/cli/command.ts'
import { columnsOf } from '../../src/cli/nouns/lists.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { service } from '../../src/nouns/services.ts'
import { cyan, dim, linesOf } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services discover',
  summary: 'get the complete catalog with runnable example requests ($0.001)',
  description: 'Made for agents. The catalog alone is free: `souk services list`.',
  options: z.object({
    guide: z.boolean().default(false).meta({ description: 'print only the guide, as Markdown' }),
  }),
  examples: [
    'souk services discover',
    'souk services discover --guide',
    'souk services discover --json --fields id,agent_price',
  ],
  async run(context) {
    const session = await context.session()
    const { answer: found, payment } = await pay(context, session, { endpoint: 'discover', asked: {} })
    context.io.debug(`paid by ${payment.method}`, 'verbose')
    return context.options.guide ? { guide: found.guide, guide_markdown: found.guide_markdown } : found
  },
  rows: (found) => ('services' in found ? found.services : undefined),
  columns: columnsOf(service, 'own'),
  view(found, io) {
    if (!('services' in found)) {
      // On a terminal each line says whose it is; in a pipe it is Markdown as it came.
      for (const line of linesOf(found.guide_markdown.trimEnd())) io.line(io.isTty ? dim('│ ') + line : line)
      return
    }
    printRows(io, columnsOf(service, 'own'), found.services)
    io.note(`${found.services.length} of ${found.total} services`)
    for (const [at, { title }] of found.guide.steps.entries()) io.note(`  ${at + 1}. ${title}`)
    io.note(`  how: ${cyan(io.hint('souk services discover --guide'))}`)
  },
})
