import { type Delivery, lastOf } from '../../nouns/deliveries.ts'
import { safe } from '../../text/text.ts'
import type { Sent } from './ask.ts'
import type { DialogSpec } from './dialog.ts'
import { shellCommand } from './pause-dialog.ts'
import { ask } from './queries.ts'
import type { Host } from './screen.ts'

type Replayed = { readonly id: string; readonly who: string; readonly sentence: string }

/** What a delivery's dialog says of it. */
export function replayOf(delivery: Delivery, who: string): Replayed {
  const { delivery_id: id, type, attempts } = delivery
  return { id, who, sentence: safe(`${type}, ${attempts.length} tries: ${lastOf(delivery) ?? 'no answer'}`) }
}

/** Sends a delivery again. */
export function replayDialog(host: Host, { id, who, sentence }: Replayed): DialogSpec {
  return {
    title: 'SEND A DELIVERY AGAIN',
    about: `${id}  ${who}`,
    facts: () => [
      ['delivery', id],
      ['to', who],
      ['so far', sentence],
      ['What it does', 'it is sent anew under the same event id; no money moves'],
    ],
    verb: 'Send',
    command: () => shellCommand(host, ['admin', 'webhooks', 'replay', id]),
    send: (): Sent =>
      ask(host.link, { name: 'replayForOperator', asked: { params: { id } } }, () => `${id} is sent again.`),
  }
}
