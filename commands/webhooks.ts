import { ownId } from '../src/cli/account.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { keepAccount, webhookSecretOf } from '../src/client/secrets.ts'
import type { Delivery } from '../src/nouns/deliveries.ts'
import { bold, cyan, green, red } from '../src/text/text.ts'
import { allOf } from './services/deliveries.ts'

const options = z.object({
  rotate: z.boolean().default(false).meta({ description: 'replace the secret first' }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

export const webhooksSecret = defineCommand({
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
      facts: ['an instance shows the secret once: at registration, and when it is rotated'],
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

export const webhooksView = defineCommand({
  name: 'webhooks view',
  summary: 'show one webhook delivery with every try and response',
  args: z.object({ delivery: z.string().meta({ description: 'id of the delivery, or its webhook-id' }) }),
  examples: ['souk webhooks view whd_0123456789abcdef', 'souk webhooks view whd_0123456789abcdef --json'],
  async run({ args, session }) {
    for await (const one of allOf(await session(), undefined)) {
      if ([one.delivery_id, one.event_id].includes(args.delivery)) return one
    }
    throw new CliError('not_found', `There is no delivery ${args.delivery}; tries are kept for 30 days.`, {
      next: ['souk webhooks list'],
    })
  },
  view(delivery, io) {
    const { delivery_id: id, event_id: event, type, status, url, reason, attempts } = delivery
    io.line(`${bold(id)}   ${type}   ${status}`)
    io.line(`  webhook-id  ${event}`)
    io.line(`  to          ${url}`)
    if (reason !== null) io.line(`  ended       ${reason}`)
    if (delivery.next_attempt_at !== null) io.line(`  next try    ${delivery.next_attempt_at}`)
    for (const attempt of attempts) for (const line of attemptLines(attempt)) io.line(line)
    if (status !== 'pending') io.note(`  next: ${cyan(io.hint(`souk webhooks replay ${id}`))}`)
  },
})

function attemptLines({ at, status, latency_ms: ms, error, response_excerpt: excerpt }: Delivery['attempts'][number]) {
  const isTaken = error === null && status !== null && status < 300
  const what = status === null ? 'no answer' : String(status)
  const line = `  ${at}  ${isTaken ? green(what) : red(what)}  ${ms} ms${error === null ? '' : `  ${error}`}`
  return excerpt === '' ? [line] : [line, `    ${excerpt}`]
}
