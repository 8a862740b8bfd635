import { defineCommand } from '../../src/cli/command.ts'
import { dim, linesOf } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'discovery guide',
  summary: 'print the guide for agents (/llms.txt)',
  examples: ['souk discovery guide', 'souk discovery guide --json'],
  async run(context) {
    return { text: await (await (await context.session()).open('getLlmsText', {})).text() }
  },
  view({ text }, io) {
    // On a terminal each line says whose it is; in a pipe it is the text as it came.
    for (const line of linesOf(text.trimEnd())) io.line(io.isTty ? dim('│ ') + line : line)
  },
})
