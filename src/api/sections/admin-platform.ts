import { z } from 'zod'
import { idOf } from '../../core/codecs.ts'
import { rulings } from '../../model/job.ts'
import { namedSlugs } from '../../model/service.ts'
import { pageQuery, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { actFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'

const section = 'Administration (admin only)'
const ours = { origin: 'ours', section: 'Administration' } as const

const MAX_REASON_CHARS = 500
/** Reason for a change, shown in the state and in the log. */
const Reason = z.string().trim().min(1).max(MAX_REASON_CHARS)

const PauseState = z
  .strictObject({
    paused: z.boolean(),
    paused_at: Time.nullable().meta({ description: 'business time' }),
    reason: z.string().nullable(),
  })
  .meta({ id: 'PauseState' })
const PauseChange = PauseState.extend({
  changed: z.boolean().meta({ description: 'false: the pause was already in this state' }),
}).meta({ id: 'PauseChange' })

const pauseBody = jsonBody(z.strictObject({ reason: Reason.optional() }))

/** Longest time, in days, that a dispute can wait for its default outcome. */
export const MAX_DEFAULT_DAYS = 365
const disputesDefault = z
  .strictObject({ outcome: z.enum(rulings), days: z.int().min(1).max(MAX_DEFAULT_DAYS) })
  .nullable()
  .meta({
    description:
      'default outcome of disputes that stay undecided for this many days (split: half each); null: they wait. Open disputes keep their setting',
  })

const NamedTarget = z.union([idOf('service'), idOf('plan')])

const Features = z
  .strictObject({
    checkout_v2: z.boolean().meta({ description: 'whether the checkout cutover is on: deferred endpoints return 410' }),
    terms_required: z.boolean().meta({ description: 'whether creating or editing listings requires accepted terms' }),
    disputes_default: disputesDefault,
    named_services: z
      .record(z.string(), NamedTarget)
      .meta({ description: 'listings and plans behind advertised paths' }),
    features: z.array(
      z.strictObject({
        name: z.string(),
        enabled: z.boolean(),
        rows: z.array(z.string()).meta({ description: 'endpoints that return 404 unless the feature is enabled' }),
      }),
    ),
  })
  .meta({ id: 'Features' })

const AdminAct = z
  .strictObject({
    seq: z.int(),
    at: Time.meta({ description: 'business time' }),
    wall_at: Time,
    actor: z.string(),
    request_id: z.string(),
    act: z.string(),
    subject: z.strictObject({ kind: z.string(), id: z.string() }),
    reason: z.string().nullable(),
    changed: z.boolean(),
    detail: z.record(z.string(), z.json()),
  })
  .meta({ id: 'AdminAct' })

export const platformSwitchesApi = {
  getPlatformStatus: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/platform/status',
    access: admin,
    section,
    reply: json(PauseState),
    errors: [],
    summary: 'read platform pause state',
  }),

  pausePlatform: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/platform/pause',
    access: admin,
    section,
    body: pauseBody,
    reply: json(PauseChange),
    errors: ['invalid_request'],
    summary: 'activate kill switch, blocking all paid transactions',
  }),

  unpausePlatform: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/platform/unpause',
    access: admin,
    section,
    body: pauseBody,
    reply: json(PauseChange),
    errors: ['invalid_request'],
    summary: 'resume paid transactions',
  }),

  getEscrowPaused: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/escrow/paused',
    access: admin,
    section,
    reply: json(PauseState),
    errors: [],
    summary: 'read escrow contract pause state',
  }),

  pauseEscrow: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/escrow/pause-contract',
    access: admin,
    section,
    body: pauseBody,
    reply: json(PauseChange),
    errors: ['invalid_request', 'unavailable'],
    summary: 'pause escrow contract',
  }),

  unpauseEscrow: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/escrow/unpause-contract',
    access: admin,
    section,
    body: pauseBody,
    reply: json(PauseChange),
    errors: ['invalid_request', 'unavailable'],
    summary: 'unpause escrow contract',
  }),
}

export const featuresApi = {
  getFeatures: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/features',
    access: admin,
    ...ours,
    reply: json(Features),
    errors: [],
    summary: 'switches: cutover, features',
  }),

  setFeatures: defineEndpoint({
    method: 'PUT',
    path: '/dashboard/api/admin/features',
    access: admin,
    ...ours,
    body: jsonBody(
      z.strictObject({
        checkout_v2: z.boolean().optional(),
        terms_required: z.boolean().optional(),
        disputes_default: disputesDefault.optional(),
        named_services: z
          .partialRecord(z.enum(namedSlugs), NamedTarget.nullable())
          .optional()
          .meta({ description: 'listing of an advertised path (null: none); omitted paths stay unchanged' }),
        features: z
          .record(z.string(), z.boolean())
          .optional()
          .meta({ description: 'features by name; omitted ones stay unchanged' }),
        reason: Reason.optional(),
      }),
    ),
    reply: json(Features.extend({ changed: z.boolean() }).meta({ id: 'FeaturesChange' })),
    errors: ['invalid_request'],
    summary: 'set switches',
  }),
}

export const adminLogApi = {
  getAdminLog: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/log',
    access: admin,
    ...ours,
    query: z.strictObject({ ...listQuery(actFields), ...pageQuery }),
    reply: json(
      z.strictObject({ acts: z.array(AdminAct), total: z.int(), limit: z.int(), offset: z.int(), ...searched }),
    ),
    errors: ['invalid_request'],
    summary: 'audit log of administrator actions',
  }),
}
