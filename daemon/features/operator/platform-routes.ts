import { actFields } from '../../../src/api/endpoint/list-fields.ts'
import { type Api, api, endpointNames } from '../../../src/api/index.ts'
import type { adminLogApi, featuresApi, platformSwitchesApi } from '../../../src/api/sections/admin-platform.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Call, FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { audit } from '../../events/event-log.ts'
import { type AdminActRow, adminActs } from '../../events/rows.ts'
import { type Platform, readPlatform, writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { listedPage } from '../../store/searched-page.ts'
import { contractMirror } from '../escrow/contract.ts'
import { NEGATIVE_LABELS } from '../reputation/routes.ts'
import { namedServicesAfter, refuseUnconfigured } from '../sales/named-services.ts'
import { giveBackPauses, notePause } from '../subscriptions/pauses.ts'

const SWITCH_RETRY_SECONDS = 5

/** Row members of the two pause switches. */
export const switches = {
  platform: { at: 'paused_at', reason: 'paused_reason', id: 'platform' },
  escrow: { at: 'escrow_paused_at', reason: 'escrow_paused_reason', id: 'escrow' },
} as const
type Switch = (typeof switches)[keyof typeof switches]

function pauseState(platform: Platform, { at, reason }: Switch) {
  return { paused: platform[at] !== null, paused_at: platform[at], reason: platform[reason] }
}

/** Idempotent. A second pause keeps the time and reason of the first. */
export async function setPaused(
  call: Call,
  which: Switch,
  { isPaused, reason }: { isPaused: boolean; reason?: string | undefined },
) {
  const { ctx, now } = call
  const state = await commit(ctx, async (t, draw) => {
    const before = await readPlatform(t)
    const changed = (before[which.at] !== null) !== isPaused
    const change = isPaused
      ? { [which.at]: now, [which.reason]: reason ?? null }
      : { [which.at]: null, [which.reason]: null }
    const after = changed ? await writePlatform(t, change) : before
    const { paused_at: since } = before
    if (since !== null && after.paused_at === null) await notePause(t, { from: since, to: now })
    const act = `${which.id}.${isPaused ? 'pause' : 'unpause'}` as const
    await audit(t, draw, { act, subject: { kind: 'switch', id: which.id }, changed, reason: reason ?? null, by: call })
    return { ...pauseState(after, which), changed }
  })
  if (!isPaused) await giveBackPauses(ctx)
  await ctx.switches.follow()
  return state
}

type Pausing = FreeHandler<Api['pausePlatform']>

const pausing =
  (which: Switch, isPaused: boolean): Pausing =>
  async ({ body }, call) =>
    setPaused(call, which, { isPaused, ...body })

const reading =
  (which: Switch): FreeHandler<Api['getPlatformStatus']> =>
  async (_input, { ctx }) =>
    pauseState(await ctx.store.read(readPlatform), which)

const getPlatformStatus = reading(switches.platform)
const pausePlatform = pausing(switches.platform, true)
const unpausePlatform = pausing(switches.platform, false)

/** Pauses or resumes the contract first, so that the books match it. */
const pausingEscrow =
  (isPaused: boolean): Pausing =>
  async (input, call) => {
    const mirror = contractMirror.of(call.ctx)
    const write = async () => pausing(switches.escrow, isPaused)(input, call)
    if (!mirror) return write()
    const switched = await mirror.setPaused(isPaused, write)
    if (switched.ok) return switched.written
    const why = switched.failure === 'unavailable' ? 'the chain does not answer' : (switched.reason ?? switched.failure)
    throw new AppError('unavailable', `The escrow contract was not ${isPaused ? 'paused' : 'unpaused'}: ${why}.`, {
      retryAfter: SWITCH_RETRY_SECONDS,
    })
  }

/** Features that change the content of responses. All others enable endpoints. */
const behaviours = [NEGATIVE_LABELS]

/** Endpoints that are disabled by default, grouped by feature. */
function rowsByFeature(): Map<string, string[]> {
  const rows = new Map<string, string[]>(behaviours.map((name) => [name, []]))
  for (const name of endpointNames) {
    const row = api[name]
    const feature = 'switch' in row ? String(row.switch) : undefined
    if (feature !== undefined) rows.set(feature, [...(rows.get(feature) ?? []), `${row.method} ${row.path}`])
  }
  return rows
}

function featuresView(platform: Platform) {
  const features = [...rowsByFeature()].map(([name, rows]) => ({
    name,
    enabled: platform.enabled.includes(name),
    rows,
  }))
  const { checkout_v2, terms_required, disputes_default, named_services } = platform
  return { checkout_v2, terms_required, disputes_default, named_services, features }
}

function switched({ checkout_v2, terms_required, disputes_default, named_services, enabled }: Platform) {
  return { checkout_v2, terms_required, disputes_default, named_services, enabled: [...enabled].sort() }
}

function actFacts({ act, subject_kind, subject_id, actor, reason, changed, at: age }: AdminActRow) {
  return { act, subject: [subject_id, subject_kind], actor, reason, changed, age }
}

function actView({ subject_kind, subject_id, id: _, version: __, ...row }: AdminActRow) {
  return { ...row, subject: { kind: subject_kind, id: subject_id } }
}

export const platformRoutes: FreeHandlers<typeof platformSwitchesApi & typeof featuresApi & typeof adminLogApi> = {
  getPlatformStatus,
  pausePlatform,
  unpausePlatform,
  getEscrowPaused: reading(switches.escrow),
  pauseEscrow: pausingEscrow(true),
  unpauseEscrow: pausingEscrow(false),
  getFeatures: async (_input, { ctx }) => featuresView(await ctx.store.read(readPlatform)),

  setFeatures: async ({ body }, call) => {
    const { reason = null, features = {} } = body
    const known = rowsByFeature()
    const unknown = Object.keys(features).find((name) => !known.has(name))
    if (unknown !== undefined) {
      const names = [...known.keys()].join(', ') || 'no such feature'
      throw invalidField(`features.${unknown}`, `unknown feature; available: ${names}`)
    }
    const view = await commit(call.ctx, async (t, draw) => {
      const before = await readPlatform(t)
      const named_services = await namedServicesAfter(t, before, body.named_services)
      refuseUnconfigured(features, named_services)
      const after = await writePlatform(t, {
        checkout_v2: body.checkout_v2 ?? before.checkout_v2,
        terms_required: body.terms_required ?? before.terms_required,
        disputes_default: body.disputes_default === undefined ? before.disputes_default : body.disputes_default,
        named_services,
        enabled: [...known.keys()].filter((name) => features[name] ?? before.enabled.includes(name)),
      })
      const detail = { before: switched(before), after: switched(after) }
      const changed = JSON.stringify(detail.before) !== JSON.stringify(detail.after)
      const subject = { kind: 'switch', id: 'features' }
      await audit(t, draw, { act: 'features.set', subject, changed, reason, detail, by: call })
      return { ...featuresView(after), changed }
    })
    await call.ctx.switches.follow()
    return view
  },

  getAdminLog: async ({ query }, { ctx, now }) => {
    const list = { rows: adminActs, index: 'seq', prefix: [], fields: actFields, factsOf: actFacts }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    return { acts: rows.map(actView), ...found }
  },
}
