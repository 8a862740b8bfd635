import { z } from 'zod'
import { Amount } from '../../core/codecs.ts'
import { attentionKinds, ownAttentionKinds } from '../../model/words.ts'
import { Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, key } from '../endpoint/define.ts'

/** A problem for the operator. */
export const AttentionItem = z
  .strictObject({
    id: z.string().meta({ description: 'the same for as long as it waits' }),
    kind: z.enum(attentionKinds),
    grave: z.boolean().meta({ description: 'somebody’s money waits, or data is at risk' }),
    subject: z.strictObject({ kind: z.string(), id: z.string() }),
    who: z.string().nullable().meta({ description: 'name or id of whom it concerns' }),
    amount: Amount.nullable(),
    since: Time.nullable(),
    due: Time.nullable().meta({ description: 'when it ends by itself, null when it does not' }),
    sentence: z.string(),
    fix: z.string().meta({ description: 'the command that mends it, or shows more' }),
  })
  .meta({ id: 'AttentionItem' })

/** An item for a participant. */
export const OwnAttentionItem = AttentionItem.omit({ grave: true, who: true })
  .extend({ kind: z.enum(ownAttentionKinds) })
  .meta({ id: 'OwnAttentionItem' })

export const attentionApi = {
  getOwnAttention: defineEndpoint({
    method: 'GET',
    path: '/v1/attention',
    access: key(),
    origin: 'ours',
    section: 'Account',
    reply: json(
      z.strictObject({
        items: z.array(OwnAttentionItem).meta({ description: 'the most urgent kind first' }),
        counts: z.record(z.enum(ownAttentionKinds), z.int()).meta({ description: 'all there are, by kind' }),
        total: z.int(),
      }),
    ),
    errors: [],
    summary: 'list items that wait for you, each with the next action',
  }),

  getAttention: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/attention',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    reply: json(
      z.strictObject({
        items: z.array(AttentionItem).meta({ description: 'grave ones first, the oldest of each kind first' }),
        counts: z.record(z.enum(attentionKinds), z.int()).meta({ description: 'all there are, by kind' }),
        total: z.int(),
      }),
    ),
    errors: [],
    summary: 'list problems, each with the action that fixes it',
  }),
}
