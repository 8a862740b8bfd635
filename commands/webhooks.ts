import { ownId } from '../src/cli/account.ts'
import { type CommandContext, defineCommand, watchOptions } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { columnsOf, PAGE_ROWS_MAX, pageOf, pageOptions, showPage } from '../src/cli/nouns/lists.ts'
import { findListing } from '../src/cli/nouns/services/services.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { keepAccount, webhookSecretOf } from '../src/client/secrets.ts'
import { compact } from '../src/core/record.ts'
import { deliveryStates } from '../src/model/delivery.ts'
import { type Delivery, delivery } from '../src/nouns/deliveries.ts'
import { bold, cyan, green, red } from '../src/text/text.ts'

const listOptions = z.object({
  status: z.choice(deliveryStates, { description: 'only in this state; dead: all tries failed', value: 'state' }),
  ...pageOptions,
  ...watchOptions,
})
type ListParams = Pick<z.output<typeof listOptions>, 'status' | 'limit' | 'page'>

export const webhooksList = defineCommand({
  name: 'webhooks list',
  summary: 'list webhook deliveries to your endpoints, newest first',
  isDefault: true,
  args: z.object({ service: z.text({ description: 'only of this listing, by id or name' }) }),
  options: listOptions,
  examples: [
    'souk webhooks list',
    'souk webhooks list --status dead --json',
    'souk webhooks list svc_0123456789abcdef --status pending',
  ],
  prints: 'listDeliveries',
  async run(context) {
    const session = await context.session()
    const { service } = context.args
    if (service === undefined) return readPage(session, context.options)
    return readOf(context, session, (await findListing(session, service)).id)
  },
  rows: ({ deliveries }) => deliveries,
  columns: columnsOf(delivery, 'own'),
  view(page, io) {
    showPage(delivery, page, { io, place: 'own' })
    const dead = page.deliveries.find(({ status }) => status === 'dead')
    if (dead) io.note(`  next: ${cyan(io.hint(`souk webhooks replay ${dead.delivery_id}`))}`)
  },
})

export async function readPage(session: Session, { status, limit, page }: ListParams) {
  return session.call('listDeliveries', { query: { ...pageOf({ limit, page }), ...compact({ status }) } })
}

/** Deliveries with a given status, from all pages. */
async function* allOf(session: Session, status: ListParams['status']): AsyncGenerator<Delivery> {
  for (let page = 1, more = true; more; page += 1) {
    const { deliveries, total } = await readPage(session, { status, limit: PAGE_ROWS_MAX, page })
    yield* deliveries
    more = deliveries.length > 0 && page * PAGE_ROWS_MAX < total
  }
}

/** Deliveries of one listing. They are filtered here, since the API has no filter for listings. */
async function readOf(
  { options: { status, limit, page } }: CommandContext<unknown, ListParams>,
  session: Session,
  service: string,
) {
  const found: Delivery[] = []
  for await (const one of allOf(session, status)) if (one.service_id === service) found.push(one)
  const offset = (page - 1) * limit
  return { deliveries: found.slice(offset, offset + limit), total: found.length, limit, offset }
}

const replayOptions = z.object({ all: z.flag({ description: 'resend all dead deliveries, except test messages' }) })
type ReplayContext = CommandContext<{ delivery: string[] }, z.output<typeof replayOptions>>

export const webhooksReplay = defineCommand({
  name: 'webhooks replay',
  summary: 'resend webhook deliveries with their original ids',
  description: 'The webhook-id stays the same, so that receivers can detect duplicates. Retries start over.',
  args: z.object({ delivery: z.list({ description: 'delivery ids' }) }),
  options: replayOptions,
  examples: ['souk webhooks replay whd_0123456789abcdef', 'souk webhooks replay --all --json'],
  async run(context) {
    const session = await context.session()
    const ids = await chosen(context, session)
    const deliveries: Delivery[] = []
    const progress = context.io.progress('replaying')
    try {
      for (const id of ids) {
        progress.update(`replaying ${deliveries.length + 1} of ${ids.length}`)
        deliveries.push(await session.call('replayDelivery', { params: { id } }))
      }
    } finally {
      progress.stop()
    }
    return { deliveries, total: deliveries.length }
  },
  rows: ({ deliveries }) => deliveries,
  columns: columnsOf(delivery, 'own'),
  view({ deliveries, total }, io) {
    for (const { delivery_id: id, type, url } of deliveries)
      io.line(`${green('✓')} ${id} ${type} is sent again to ${url}`)
    if (total === 0) io.line('no dead deliveries')
    else io.note(`  next: ${cyan(io.hint('souk webhooks list'))}`)
  },
})

async function chosen({ args, options: { all } }: ReplayContext, session: Session): Promise<readonly string[]> {
  if (all === args.delivery.length > 0) {
    throw usage('Name the deliveries, or add --all for every dead one.', { next: ['souk webhooks list --status dead'] })
  }
  if (!all) return args.delivery
  const dead: string[] = []
  for await (const { delivery_id: id, type } of allOf(session, 'dead')) if (type !== 'test') dead.push(id)
  return dead
}

const secretOptions = z.object({ rotate: z.flag({ description: 'create a new secret first' }) })

export const webhooksSecret = defineCommand({
  name: 'webhooks secret',
  summary: 'print the secret that signs your webhooks',
  description:
    'Registration creates the secret, and saves it on this machine with the API key. For 24 hours after --rotate, webhooks carry signatures of both secrets.',
  options: secretOptions,
  examples: ['souk webhooks secret', 'souk webhooks secret --rotate --yes --json'],
  async run(context) {
    const session = await context.session()
    const wallet = await session.wallet()
    if (context.options.rotate) return rotated(context, session)
    await session.ownHeaders()
    const secret = wallet && webhookSecretOf(context.places, session.target.instance, wallet.address)
    if (secret !== undefined) return { webhook_secret: secret, previous_secret_until: null }
    throw new CliError('not_found', 'The webhook secret of this account is not saved on this machine.', {
      facts: ['the secret is shown once: at registration, and after --rotate'],
      next: ['souk webhooks secret --rotate'],
    })
  },
  view({ webhook_secret: secret, previous_secret_until: until }, io) {
    io.line(secret)
    if (until !== null) io.say(`messages also carry the signature of the old secret until ${until}`)
    io.note(`  next: ${cyan(io.hint('souk webhooks verify --request FILE'))}`)
  },
})

async function rotated({ io, places }: CommandContext<unknown, z.output<typeof secretOptions>>, session: Session) {
  const headers = await session.ownHeaders()
  await io.confirm(`Create a new webhook secret at ${session.target.name}? The old one expires in 24 hours.`)
  const body = { rotate_webhook_secret: true } as const
  const answer = await session.call('updateParticipant', { params: { id: await ownId(session) }, body, headers })
  keepAccount(places, session.target.instance, answer)
  const { webhook_secret: secret, previous_secret_until: until = null } = answer
  if (secret === undefined) throw new CliError('failure', 'The instance returned no new webhook secret.')
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
