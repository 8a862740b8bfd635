import { z } from 'zod'
import { namedObject, Time } from '../../core/codecs.ts'
import { DAY_MS } from '../../core/time.ts'
import { adminEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { CronHealth } from './platform.ts'

export const CronRunView = namedObject('CronRun', {
  at: Time.meta({ description: 'business time' }),
  took_ms: z.int(),
  trigger: z.enum(['schedule', 'catch_up', 'clock', 'admin']),
  result: z.enum(['success', 'skipped', 'failed']),
  reason: z.string().nullable().meta({ description: 'why the run was skipped or failed' }),
})

const CronView = CronHealth.extend({
  name: z.string(),
  schedule: z.string().meta({ description: 'cron expression in UTC: second, minute, hour, day, month, weekday' }),
  interval_seconds: z.int(),
  paused: z.boolean(),
  paused_at: Time.nullable(),
  running: z.boolean(),
  next_run: Time.nullable().meta({ description: 'business time; null while the cron is paused' }),
  runs: z.array(CronRunView).meta({ description: 'newest first' }),
}).meta({ id: 'Cron' })
const CronChange = CronView.extend({ changed: z.boolean() }).meta({ id: 'CronChange' })

export const cronsApi = {
  listCrons: adminEndpoint({
    path: '/dashboard/api/admin/crons',
    reply: json({
      crons: z.array(CronView),
      automatic: z.boolean().meta({ description: 'false: this daemon runs no crons automatically' }),
    }),
    summary: 'crons with run history',
  }),

  runCron: adminEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/crons/:name/run',
    reply: json({ name: z.string(), run: CronRunView }),
    errors: ['not_found', 'conflict'],
    summary: 'run now',
  }),

  pauseCron: adminEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/crons/:name/pause',
    reply: json(CronChange),
    summary: 'pause a cron',
  }),

  resumeCron: adminEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/crons/:name/resume',
    reply: json(CronChange),
    summary: 'resume a cron',
  }),
}

export const MAX_ADVANCE_MS = 3_660 * DAY_MS

const state = z.enum(['running', 'frozen'])

const ClockView = namedObject('Clock', {
  now: Time.meta({ description: 'business time: deadlines, periods, crons' }),
  wall: Time.meta({ description: 'time of the machine: signatures, tokens, rate limits; never moved' }),
  offset_ms: z.int().meta({ description: 'business time minus machine time; while frozen, as of the freeze' }),
  state,
  movable: z.boolean().meta({ description: 'false with real money' }),
  next_cron: z.strictObject({ name: z.string(), at: Time }).nullable(),
})

export const clockApi = {
  getClock: adminEndpoint({ path: '/dashboard/api/admin/clock', reply: json(ClockView), summary: 'business clock' }),

  moveClock: adminEndpoint({
    path: '/dashboard/api/admin/clock',
    body: jsonBody(
      z
        .strictObject({
          advance_ms: z.int().min(1).max(MAX_ADVANCE_MS).optional(),
          set: Time.optional().meta({ description: 'a time that is not before the current business time' }),
          state: state.optional().meta({ description: 'new state of the clock (default: unchanged)' }),
        })
        .refine((body) => Object.keys(body).length > 0, 'at least one of `advance_ms`, `set` and `state` is required')
        .refine(
          (body) => body.advance_ms === undefined || body.set === undefined,
          'has advance_ms and set: choose one',
        ),
    ),
    reply: json(
      ClockView.extend({
        changed: z.boolean(),
        jumps: z.int().meta({ description: 'number of times at which scheduled jobs ran' }),
        runs_total: z.int(),
        runs: z.array(CronRunView.extend({ name: z.string() }).meta({ id: 'NamedCronRun' })).meta({
          description: 'the latest runs, in order',
        }),
      }).meta({ id: 'ClockChange' }),
    ),
    errors: ['conflict', 'unavailable'],
    summary: 'advance, set, freeze (sandbox, devnet)',
  }),
}
