import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

/** The contract's own list costs its whole file to load; a test holds the two together. */
const kinds = ['subject_view', 'expand_io', 'verify_signature'] as const

export const command = defineCommand({
  name: 'stats event',
  summary: 'record one explorer page view',
  args: z.object({ kind: z.enum(kinds).meta({ description: kinds.join(', ') }) }),
  options: z.object({
    dnt: z.boolean().default(false).meta({ description: 'send Do Not Track: nothing is recorded' }),
  }),
  examples: ['souk stats event subject_view', 'souk stats event expand_io --dnt --json'],
  async run({ args: { kind }, options: { dnt }, session }) {
    await (await session()).open('recordEvent', { body: { event: kind }, headers: dnt ? { DNT: '1' } : {} })
    return { event: kind, recorded: !dnt }
  },
  view: ({ event, recorded }, io) =>
    io.line(recorded ? `${green('✓')} ${event} counted` : `${event} was sent and not recorded`),
})
