import { z } from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { CronRunView } from './admin-crons.ts'

const common = { access: admin, origin: 'ours', section: 'Administration' } as const

/** Longest clock move per call. */
export const MAX_ADVANCE_MS = 3_660 * DAY_MS

const state = z.enum(['running', 'frozen'])

const ClockView = z
  .strictObject({
    now: Time.meta({ description: 'business time: deadlines, periods, crons' }),
    wall: Time.meta({ description: 'time of the machine: signatures, tokens, rate limits; never moved' }),
    offset_ms: z.int().meta({ description: 'business time minus machine time; while frozen, as of the freeze' }),
    state,
    movable: z.boolean().meta({ description: 'false with real money' }),
    next_cron: z.strictObject({ name: z.string(), at: Time }).nullable(),
  })
  .meta({ id: 'Clock' })

export const clockApi = {
  getClock: defineEndpoint({
    ...common,
    method: 'GET',
    path: '/dashboard/api/admin/clock',
    reply: json(ClockView),
    errors: [],
    summary: 'business clock',
  }),

  moveClock: defineEndpoint({
    ...common,
    method: 'POST',
    path: '/dashboard/api/admin/clock',
    body: jsonBody(
      z
        .strictObject({
          advance_ms: z.int().min(1).max(MAX_ADVANCE_MS).optional(),
          set: Time.optional().meta({ description: 'a time that is not before the current business time' }),
          state: state.optional().meta({ description: 'new state of the clock (default: unchanged)' }),
        })
        .refine((body) => Object.keys(body).length > 0, 'needs advance_ms, set or state')
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
    errors: ['invalid_request', 'conflict', 'unavailable'],
    summary: 'advance, set, freeze (sandbox, devnet)',
  }),
}
