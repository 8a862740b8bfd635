import { defineCall, defineCommand } from '../src/cli/command.ts'
import * as z from '../src/cli/params.ts'
import { bold, cyan, dim, green, linesOf } from '../src/text/text.ts'

export const termsAccept = defineCommand({
  name: 'terms accept',
  summary: 'accept the terms (required of providers on some instances)',
  options: z.object({
    version: z.text({ description: 'version to accept (default: the current one)', value: 'version' }),
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

export const termsShow = defineCall({
  name: 'terms show',
  isDefault: true,
  summary: 'read the terms of the instance',
  examples: ['souk terms', 'souk terms show --json'],
  asks: 'getTerms',
  view({ version, required, text, url }, io) {
    io.line(`${bold(`version ${version}`)}   ${required ? 'sellers must accept it' : 'acceptance is optional'}`)
    for (const line of linesOf(text.trimEnd())) io.line(dim('│ ') + line)
    io.line(`  text      ${url}`)
    if (required) io.note(`  next      ${cyan(io.hint('souk terms accept'))}`)
  },
})
