import { ownId } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { showParticipant } from '../../src/cli/nouns/participants.ts'
import { webhookSecretOf } from '../../src/client/secrets.ts'
import { cyan } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'account show',
  summary: 'show your own profile',
  examples: ['souk account show', 'souk account show --json'],
  async run(context) {
    const session = await context.session()
    const headers = await session.ownHeaders()
    const profile = await session.call('getParticipant', { params: { id: await ownId(session) }, headers })
    const { instance } = session.target
    const secret = webhookSecretOf(context.places, instance, profile.wallet)
    const kept = [headers['x-api-key'], secret].map((one) => (one === undefined ? null : masked(one)))
    return { ...profile, api_key: kept[0] ?? null, webhook_secret: kept[1] ?? null }
  },
  view(profile, io) {
    showParticipant(profile, io)
    io.line(`  API key   ${profile.api_key ?? 'not kept here'}`)
    io.line(`  secret    ${profile.webhook_secret ?? 'of webhooks: not kept here'}`)
    const line = profile.webhook_secret === null ? 'souk webhooks secret --rotate' : 'souk webhooks secret'
    io.note(`  next: ${cyan(io.hint(line))}`)
  },
})

const SHOWN_CHARS = 9

/** Enough of a secret to tell it from another one. */
function masked(secret: string): string {
  return `${secret.slice(0, SHOWN_CHARS)}…${secret.slice(-3)}`
}
