import { type CommandContext, defineCommand } from '../../../src/cli/command.ts'
import { usage } from '../../../src/cli/exit.ts'
import { columnsOf } from '../../../src/cli/nouns/lists.ts'
import * as z from '../../../src/cli/params.ts'
import type { Session } from '../../../src/cli/session.ts'
import { type Delivery, delivery } from '../../../src/nouns/deliveries.ts'
import { cyan, green } from '../../../src/text/text.ts'
import { allOf } from './list.ts'

const options = z.object({
  all: z.boolean().default(false).meta({ description: 'all failed deliveries, except test messages' }),
})
type Host = CommandContext<{ delivery: string[] }, z.output<typeof options>>

export const command = defineCommand({
  name: 'services deliveries replay',
  summary: 'resend webhook deliveries with their original ids',
  aliases: ['webhooks replay'],
  description: 'The webhook-id stays the same, so that receivers can detect duplicates. Retries start over.',
  args: z.object({ delivery: z.array(z.string()).default([]).meta({ description: 'delivery ids' }) }),
  options,
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
    for (const { delivery_id: id, type, url } of deliveries) io.line(`${green('✓')} ${id} ${type} goes again to ${url}`)
    if (total === 0) io.line('none is dead')
    else io.note(`  next: ${cyan(io.hint('souk services deliveries'))}`)
  },
})

async function chosen({ args, options: { all } }: Host, session: Session): Promise<readonly string[]> {
  if (all === args.delivery.length > 0) {
    throw usage('Name deliveries, or take --all that are dead.', { next: ['souk services deliveries --status dead'] })
  }
  if (!all) return args.delivery
  const dead: string[] = []
  for await (const { delivery_id: id, type } of allOf(session, 'dead')) if (type !== 'test') dead.push(id)
  return dead
}
