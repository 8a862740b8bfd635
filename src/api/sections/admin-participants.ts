import { z } from 'zod'
import { Amount, idOf } from '../../core/codecs.ts'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { participantTypes, tiers } from '../../model/words.ts'
import { paged, pageQuery, Time } from '../endpoint/common.ts'
import { adminEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { participantFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { OwnParticipant } from './participants.ts'

/** What a participant sees of itself, without secrets, and what only the operator sees. */
const AdminParticipant = OwnParticipant.omit({ webhook_secret: true, previous_secret_until: true })
  .extend({
    suspended_at: Time.nullable().meta({ description: 'start of the suspension (read-only access)' }),
    referred_by: idOf('participant').nullable(),
    balance: z.strictObject({ available: Amount, held: Amount }),
  })
  .meta({ id: 'AdminParticipant' })

export const participantAdminApi = {
  listParticipants: adminEndpoint({
    path: '/dashboard/api/admin/participants',
    query: z.strictObject({
      type: z.enum(participantTypes).optional(),
      tier: z.enum(tiers).optional(),
      ...listQuery(participantFields),
      ...pageQuery,
    }),
    reply: json({
      participants: z.array(AdminParticipant),
      ...paged,
      ...searched,
    }),
    summary: 'participants, including their private fields',
  }),

  setParticipant: adminEndpoint({
    method: 'PUT',
    path: '/dashboard/api/admin/participants/:id',
    body: jsonBody(
      z
        .strictObject({
          verification_tier: z.enum(tiers).optional(),
          suspended: z.boolean().optional().meta({
            description:
              'true: suspended; its key can only read, its wallet cannot pay, and its listings, plans, products and open requests are hidden',
          }),
          reason: z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'required: give a reason'),
        })
        .refine(
          (body) => body.verification_tier !== undefined || body.suspended !== undefined,
          'verification_tier or suspended: required',
        ),
    ),
    reply: json(AdminParticipant),
    errors: ['conflict', 'invalid_request', 'not_found'],
    summary: 'set tier, suspend',
  }),
}
