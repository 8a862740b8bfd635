import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, cyan, dim, linesOf } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'terms show',
  isDefault: true,
  summary: 'read the terms of the instance',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk terms', 'souk terms show --json'],
  run: async (context) => (await context.session()).call('getTerms', {}),
  view({ version, required, text, url }, io) {
    io.line(`${bold(`version ${version}`)}   ${required ? 'has to be accepted to sell' : 'acceptance is optional'}`)
    for (const line of linesOf(text.trimEnd())) io.line(dim('│ ') + line)
    io.line(`  text      ${url}`)
    if (required) io.note(`  next      ${cyan(io.hint('souk terms accept'))}`)
  },
})
