import { defineCall } from '../../src/cli/command.ts'
import { bold, cyan, dim, linesOf } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'terms show',
  isDefault: true,
  summary: 'read the terms of the instance',
  examples: ['souk terms', 'souk terms show --json'],
  asks: 'getTerms',
  asked: () => ({}),
  view({ version, required, text, url }, io) {
    io.line(`${bold(`version ${version}`)}   ${required ? 'has to be accepted to sell' : 'acceptance is optional'}`)
    for (const line of linesOf(text.trimEnd())) io.line(dim('│ ') + line)
    io.line(`  text      ${url}`)
    if (required) io.note(`  next      ${cyan(io.hint('souk terms accept'))}`)
  },
})
