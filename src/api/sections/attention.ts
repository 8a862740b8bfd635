import { z } from 'zod'
import { Amount, namedObject, Time } from '../../core/codecs.ts'
import { attentionKinds, ownAttentionKinds } from '../../model/words.ts'
import { accountEndpoint, adminEndpoint, json } from '../endpoint/define.ts'

/** A problem for the operator. */
export const AttentionItem = namedObject('AttentionItem', {
  id: z.string().meta({ description: 'stable while the item is open' }),
  kind: z.enum(attentionKinds),
  grave: z.boolean().meta({ description: 'money is waiting, or data is at risk' }),
  subject: z.strictObject({ kind: z.string(), id: z.string() }),
  who: z.string().nullable().meta({ description: 'name or id of the affected participant' }),
  amount: Amount.nullable(),
  since: Time.nullable(),
  due: Time.nullable().meta({ description: 'time at which it resolves automatically; null: never' }),
  sentence: z.string(),
  fix: z.string().meta({ description: 'command that fixes the problem or shows details' }),
})

export const OwnAttentionItem = AttentionItem.omit({ grave: true, who: true })
  .extend({ kind: z.enum(ownAttentionKinds) })
  .meta({ id: 'OwnAttentionItem' })

export const attentionApi = {
  getOwnAttention: accountEndpoint({
    path: '/v1/attention',
    reply: json({
      items: z.array(OwnAttentionItem).meta({ description: 'most urgent kind first' }),
      counts: z.record(z.enum(ownAttentionKinds), z.int()).meta({ description: 'total number by kind' }),
      total: z.int(),
    }),
    summary: 'list items that wait for you, each with the next action',
  }),

  getAttention: adminEndpoint({
    path: '/dashboard/api/admin/attention',
    reply: json({
      items: z.array(AttentionItem).meta({ description: 'severe ones first, then oldest first within each kind' }),
      counts: z.record(z.enum(attentionKinds), z.int()).meta({ description: 'total number by kind' }),
      total: z.int(),
    }),
    summary: 'list problems, each with the action that fixes it',
  }),

  getAlarms: adminEndpoint({
    path: '/dashboard/api/admin/alarms',
    reply: json({
      targets: z.array(
        z.strictObject({
          target: z.string().meta({ description: 'without its password or token' }),
          open: z.int().meta({ description: 'open problems that the target was told of' }),
          sent_at: Time.nullable().meta({ description: 'last message that arrived' }),
          failing_since: Time.nullable(),
          error: z.string().nullable().meta({ description: 'why the last message did not arrive' }),
        }),
      ),
      quiet_hours: z.string().nullable().meta({ description: 'in the local time of the daemon' }),
      hot_ceiling: Amount.nullable().meta({
        description: 'balance of the pay-to wallet above which an alarm is raised',
      }),
      webhook_secret: z.string().nullable().meta({ description: 'signs alarms to webhooks' }),
    }),
    summary: 'list the targets of alarms and whether they receive them',
  }),

  testAlarms: adminEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/alarms/test',
    reply: json({ results: z.array(z.strictObject({ target: z.string(), ok: z.boolean(), detail: z.string() })) }),
    summary: 'send a test alarm to every target',
  }),
}
