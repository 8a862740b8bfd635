import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import type { Delivery } from '../../src/nouns/deliveries.ts'
import { bold, cyan, green, red } from '../../src/text/text.ts'
import { allOf } from '../services/deliveries/list.ts'

export const command = defineCommand({
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
