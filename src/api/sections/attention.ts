import { z } from 'zod'
import { Amount, namedObject } from '../../core/codecs.ts'
import { attentionKinds, ownAttentionKinds } from '../../model/words.ts'
import { Time } from '../endpoint/common.ts'
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
}
