import { ownId } from '../../src/cli/account.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { keepAccount, webhookSecretOf } from '../../src/client/secrets.ts'
import { cyan } from '../../src/text/text.ts'

const options = z.object({
  rotate: z.boolean().default(false).meta({ description: 'replace the secret first' }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

export const command = defineCommand({
  name: 'webhooks secret',
  summary: 'print the secret that signs your webhooks',
  description:
    'The secret is created by registration and saved on this machine beside the API key. For 24 hours after --rotate, webhooks carry signatures of both secrets.',
  options,
  examples: ['souk webhooks secret', 'souk webhooks secret --rotate --yes --json'],
  async run(context) {
    const session = await context.session()
    const wallet = await session.wallet()
    if (context.options.rotate) return rotated(context, session)
    await session.ownHeaders()
    const secret = wallet && webhookSecretOf(context.places, session.target.instance, wallet.address)
    if (secret !== undefined) return { webhook_secret: secret, previous_secret_until: null }
    throw new CliError('not_found', 'The webhook secret of this account is not kept on this machine.', {
      facts: ['an instance shows it once: at the registration, or when a new one is made'],
      next: ['souk webhooks secret --rotate'],
    })
  },
  view({ webhook_secret: secret, previous_secret_until: until }, io) {
    io.line(secret)
    if (until !== null) io.say(`messages carry the signature of the old secret too until ${until}`)
    io.note(`  next: ${cyan(io.hint('souk webhooks verify --request FILE'))}`)
  },
})

async function rotated({ io, places }: Context, session: Session) {
  const headers = await session.ownHeaders()
  await io.confirm(`Make a new webhook secret at ${session.target.name}? The old one ends in 24 hours.`)
  const body = { rotate_webhook_secret: true } as const
  const answer = await session.call('updateParticipant', { params: { id: await ownId(session) }, body, headers })
  keepAccount(places, session.target.instance, answer)
  const { webhook_secret: secret, previous_secret_until: until = null } = answer
  if (secret === undefined) throw new CliError('failure', 'The instance gave no new webhook secret.')
  return { webhook_secret: secret, previous_secret_until: until }
}
