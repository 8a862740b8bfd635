import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { columnsOf, PAGE_ROWS_MAX, pageOf, pageOptions, showPage } from '../../src/cli/nouns/lists.ts'
import { findListing } from '../../src/cli/nouns/services/services.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import type { Session } from '../../src/cli/session.ts'
import { compact } from '../../src/core/record.ts'
import { deliveryStates } from '../../src/model/delivery.ts'
import { type Delivery, delivery } from '../../src/nouns/deliveries.ts'
import { cyan, green } from '../../src/text/text.ts'

const options = z.object({
  status: z
    .enum(deliveryStates)
    .optional()
    .meta({ description: 'only in this state; dead: all tries failed', value: 'state' }),
  ...pageOptions,
  ...watchOptions,
})
type Wanted = Pick<z.output<typeof options>, 'status' | 'limit' | 'page'>

export const servicesDeliveriesList = defineCommand({
  name: 'services deliveries list',
  summary: 'list webhook deliveries to your endpoints, newest first',
  isDefault: true,
  aliases: ['webhooks list'],
  args: z.object({ service: z.string().optional().meta({ description: 'only of this listing, by id or name' }) }),
  options,
  examples: [
    'souk services deliveries',
    'souk services deliveries --status dead --json',
    'souk services deliveries list svc_0123456789abcdef --status pending',
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
    if (dead) io.note(`  next: ${cyan(io.hint(`souk services deliveries replay ${dead.delivery_id}`))}`)
  },
})

export async function readPage(session: Session, { status, limit, page }: Wanted) {
  return session.call('listDeliveries', {
    query: { ...pageOf({ limit, page }), ...compact({ status }) },
  })
}

/** Deliveries of a status, over all pages. */
export async function* allOf(session: Session, status: Wanted['status']): AsyncGenerator<Delivery> {
  for (let page = 1, more = true; more; page += 1) {
    const { deliveries, total } = await readPage(session, { status, limit: PAGE_ROWS_MAX, page })
    yield* deliveries
    more = deliveries.length > 0 && page * PAGE_ROWS_MAX < total
  }
}

/** Deliveries of one listing; filtered here, since the API cannot. */
async function readOf({ options: wanted }: CommandContext<unknown, Wanted>, session: Session, service: string) {
  const found: Delivery[] = []
  for await (const one of allOf(session, wanted.status)) if (one.service_id === service) found.push(one)
  const { limit, page } = wanted
  const offset = (page - 1) * limit
  return { deliveries: found.slice(offset, offset + limit), total: found.length, limit, offset }
}

const replayOptions = z.object({
  all: z.boolean().default(false).meta({ description: 'all failed deliveries, except test messages' }),
})
type Host = CommandContext<{ delivery: string[] }, z.output<typeof replayOptions>>

export const servicesDeliveriesReplay = defineCommand({
  name: 'services deliveries replay',
  summary: 'resend webhook deliveries with their original ids',
  aliases: ['webhooks replay'],
  description: 'The webhook-id stays the same, so that receivers can detect duplicates. Retries start over.',
  args: z.object({ delivery: z.array(z.string()).default([]).meta({ description: 'delivery ids' }) }),
  options: replayOptions,
  examples: ['souk services deliveries replay whd_0123456789abcdef', 'souk services deliveries replay --all --json'],
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
    if (total === 0) io.line('no failed deliveries')
    else io.note(`  next: ${cyan(io.hint('souk services deliveries'))}`)
  },
})

async function chosen({ args, options: { all } }: Host, session: Session): Promise<readonly string[]> {
  if (all === args.delivery.length > 0) {
    throw usage('Give delivery ids, or --all for all failed ones.', {
      next: ['souk services deliveries --status dead'],
    })
  }
  if (!all) return args.delivery
  const dead: string[] = []
  for await (const { delivery_id: id, type } of allOf(session, 'dead')) if (type !== 'test') dead.push(id)
  return dead
}
