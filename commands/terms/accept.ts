import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'terms accept',
  summary: 'accept the terms (required of providers on some instances)',
  options: z.object({
    version: z
      .string()
      .optional()
      .meta({ description: 'version to accept (default: the current one)', value: 'version' }),
  }),
  examples: ['souk terms accept --yes', 'souk terms accept --yes --json'],
  prints: 'acceptTerms',
  async run(context) {
    const session = await context.session()
    const version = context.options.version ?? (await session.call('getTerms', {})).version
    await context.io.confirm(`Accept version ${version} of the terms of ${session.target.name}?`)
    return session.call('acceptTerms', { body: { version } })
  },
  view({ participant_id: id, version, accepted_at: at }, io) {
    io.line(`${green('✓')} ${bold(id)} accepted version ${version} at ${at}`)
  },
})
