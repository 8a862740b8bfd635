import { z } from 'zod'
import { idOf, namedObject, Time } from '../../core/codecs.ts'
import { rulings } from '../../model/job.ts'
import { namedSlugs } from '../../model/service.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { admin, adminEndpoint, endpointsWith, json, jsonBody } from '../endpoint/define.ts'
import { actFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'

const endpoint = endpointsWith({ access: admin, section: 'Administration (admin only)' })

const MAX_REASON_CHARS = 500
/** Reason for a change, shown in the state and in the log. */
const Reason = z.string().trim().min(1).max(MAX_REASON_CHARS)

const PauseState = namedObject('PauseState', {
  paused: z.boolean(),
  paused_at: Time.nullable().meta({ description: 'business time' }),
  reason: z.string().nullable(),
})
const PauseChange = PauseState.extend({
  changed: z.boolean().meta({ description: 'false: the pause was already in this state' }),
}).meta({ id: 'PauseChange' })

const pauseBody = jsonBody({ reason: Reason.optional() })

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

const Features = namedObject('Features', {
  checkout_v2: z.boolean().meta({ description: 'whether the checkout cutover is on: deferred endpoints return 410' }),
  terms_required: z.boolean().meta({ description: 'whether creating or editing listings requires accepted terms' }),
  disputes_default: disputesDefault,
  named_services: z.record(z.string(), NamedTarget).meta({ description: 'listings and plans behind advertised paths' }),
  features: z.array(
    z.strictObject({
      name: z.string(),
      enabled: z.boolean(),
      rows: z.array(z.string()).meta({ description: 'endpoints that return 404 unless the feature is enabled' }),
    }),
  ),
})

const AdminAct = namedObject('AdminAct', {
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

export const platformSwitchesApi = {
  getPlatformStatus: endpoint({
    path: '/dashboard/api/admin/platform/status',
    reply: json(PauseState),
    summary: 'read platform pause state',
  }),

  pausePlatform: endpoint({
    path: '/dashboard/api/admin/platform/pause',
    body: pauseBody,
    reply: json(PauseChange),
    summary: 'activate kill switch, blocking all paid transactions',
  }),

  unpausePlatform: endpoint({
    path: '/dashboard/api/admin/platform/unpause',
    body: pauseBody,
    reply: json(PauseChange),
    summary: 'resume paid transactions',
  }),

  getEscrowPaused: endpoint({
    path: '/dashboard/api/admin/escrow/paused',
    reply: json(PauseState),
    summary: 'read escrow contract pause state',
  }),

  pauseEscrow: endpoint({
    path: '/dashboard/api/admin/escrow/pause-contract',
    body: pauseBody,
    reply: json(PauseChange),
    errors: ['unavailable'],
    summary: 'pause escrow contract',
  }),

  unpauseEscrow: endpoint({
    path: '/dashboard/api/admin/escrow/unpause-contract',
    body: pauseBody,
    reply: json(PauseChange),
    errors: ['unavailable'],
    summary: 'unpause escrow contract',
  }),
}

export const featuresApi = {
  getFeatures: adminEndpoint({
    path: '/dashboard/api/admin/features',
    reply: json(Features),
    summary: 'switches: cutover, features',
  }),

  setFeatures: adminEndpoint({
    method: 'PUT',
    path: '/dashboard/api/admin/features',
    body: jsonBody({
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
    reply: json(Features.extend({ changed: z.boolean() }).meta({ id: 'FeaturesChange' })),
    summary: 'set switches',
  }),
}

export const adminLogApi = {
  getAdminLog: adminEndpoint({
    path: '/dashboard/api/admin/log',
    query: z.strictObject({ ...listQuery(actFields), ...pageQuery }),
    reply: json({ acts: z.array(AdminAct), ...paged, ...searched }),
    summary: 'audit log of administrator actions',
  }),
}
