import { z } from 'zod'
import { namedObject, Time } from '../../core/codecs.ts'
import { engineStatuses } from '../../model/words.ts'
import { adminEndpoint, json } from '../endpoint/define.ts'

const EngineView = namedObject('Engine', {
  name: z.string(),
  status: z.enum(engineStatuses),
  detail: z.string().meta({ description: 'one sentence about the engine’s state' }),
  fix: z.string().nullable().meta({ description: 'how to add the engine: a package or an engines file setting' }),
  functions: z.array(z.string()).meta({ description: 'house functions that are unavailable without the engine' }),
  looked_at: Time.nullable().meta({ description: 'wall time of the last check; null before the first' }),
  reached: z
    .strictObject({ ok: z.boolean(), detail: z.string(), at: Time })
    .nullable()
    .meta({ description: 'result of the last external check; null if none was made' }),
})

const Standings = z.strictObject({ engines: z.array(EngineView) })

export const enginesApi = {
  listEngines: adminEndpoint({
    path: '/dashboard/api/admin/engines',
    reply: json(Standings),
    summary: 'list the engines of first-party functions and their state; contacts no external service',
  }),

  checkEngines: adminEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/engines/check',
    reply: json(Standings),
    summary:
      'check the engines of first-party functions; each external service gets a free request, once an hour at most',
  }),
}
