import { z } from 'zod'
import { Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json } from '../endpoint/define.ts'
import { CronHealth } from './platform.ts'

const common = { access: admin, origin: 'ours', section: 'Administration' } as const

export const CronRunView = z
  .strictObject({
    at: Time.meta({ description: 'business time' }),
    took_ms: z.int(),
    trigger: z.enum(['schedule', 'catch_up', 'clock', 'admin']),
    result: z.enum(['success', 'skipped', 'failed']),
    reason: z.string().nullable().meta({ description: 'why the run was skipped or failed' }),
  })
  .meta({ id: 'CronRun' })

const CronView = CronHealth.extend({
  name: z.string(),
  schedule: z.string().meta({ description: 'seconds minutes hours day month weekday, UTC' }),
  interval_seconds: z.int(),
  paused: z.boolean(),
  paused_at: Time.nullable(),
  running: z.boolean(),
  next_run: Time.nullable().meta({ description: 'business time; null while the cron is paused' }),
  runs: z.array(CronRunView).meta({ description: 'newest first' }),
}).meta({ id: 'Cron' })
const CronChange = CronView.extend({ changed: z.boolean() }).meta({ id: 'CronChange' })

export const cronsApi = {
  listCrons: defineEndpoint({
    ...common,
    method: 'GET',
    path: '/dashboard/api/admin/crons',
    reply: json(
      z.strictObject({
        crons: z.array(CronView),
        automatic: z.boolean().meta({ description: 'false: this daemon runs no crons automatically' }),
      }),
    ),
    errors: [],
    summary: 'crons with run history',
  }),

  runCron: defineEndpoint({
    ...common,
    method: 'POST',
    path: '/dashboard/api/admin/crons/:name/run',
    reply: json(z.strictObject({ name: z.string(), run: CronRunView })),
    errors: ['not_found', 'conflict'],
    summary: 'run now',
  }),

  pauseCron: defineEndpoint({
    ...common,
    method: 'POST',
    path: '/dashboard/api/admin/crons/:name/pause',
    reply: json(CronChange),
    errors: ['not_found'],
    summary: 'pause a cron',
  }),

  resumeCron: defineEndpoint({
    ...common,
    method: 'POST',
    path: '/dashboard/api/admin/crons/:name/resume',
    reply: json(CronChange),
    errors: ['not_found'],
    summary: 'resume a cron',
  }),
}
