import { defineCommand } from '../../src/cli/command.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../../src/cli/files/document.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import type { SentBody } from '../../src/client/asked.ts'
import { keepAccount } from '../../src/client/secrets.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'provider onboard',
  summary: 'register and list services in one call',
  description:
    'The file holds the registration and its services: {"name", "services": [{…}]}. All are created, or none.',
  options: z.object({ file: z.string().meta({ short: 'f', description: `${DOCUMENT}, - for stdin`, value: 'file' }) }),
  examples: ['souk provider onboard --file onboard.json', 'souk provider onboard --file onboard.json --json'],
  prints: 'onboardProvider',
  async run(context) {
    const body = await readObjectFile(context.io, context.options.file, 'the registration')
    const session = await context.session()
    const { answer: onboarded } = await pay(context, session, {
      endpoint: 'onboardProvider',
      asked: { body: unjudged<SentBody<'onboardProvider'>>(body) },
    })
    keepAccount(context.places, session.target.instance, onboarded)
    return onboarded
  },
  rows: ({ services }) => services,
  view({ participant_id: id, services }, io) {
    io.line(`${green('✓')} ${bold(id)} registered with ${services.length} services`)
    for (const service of services) io.line(`  ${service.id}  ${service.name}`)
    io.note(`  next      ${cyan(io.hint('souk webhooks secret'))}    ${cyan(io.hint('souk services list --mine'))}`)
  },
})
