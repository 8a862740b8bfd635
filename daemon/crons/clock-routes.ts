import type { Api } from '../../src/api/index.ts'
import { AppError } from '../../src/core/error.ts'
import type { FreeHandler } from '../endpoint/handler.ts'
import { audit } from '../events/admin-log.ts'
import type { World } from '../kernel/world.ts'
import { isTestMoney } from '../ports/chain/chain.ts'

const iso = (at: number) => new Date(at).toISOString()

export const getClock: FreeHandler<Api['getClock']> = async (_input, { world }) => clockView(world)

export const moveClock: FreeHandler<Api['moveClock']> = async ({ body }, ctx) => {
  const { world, signal } = ctx
  if (!isTestMoney(world.chain)) {
    throw new AppError('unavailable', `The ${world.chain.mode} chain has real money: its clock cannot be moved.`)
  }
  const now = world.clock.now()
  const to = body.advance_ms === undefined ? body.set : now + body.advance_ms
  if (to !== undefined && to < now) {
    throw new AppError('conflict', `Time only goes on: it is ${iso(now)} now.`, { extra: { now: iso(now) } })
  }
  const state = body.state ?? world.timeline.state().state
  const subject = { kind: 'clock', id: 'clock' }
  const detail = { from: iso(now), to: iso(to ?? now), state }
  const { latest, runs, jumps, changed } = await world.timeline.move({
    to,
    state,
    signal: signal(),
    also: (t, draw, isChange) => audit(t, draw, { act: 'clock.move', subject, changed: isChange, detail, by: ctx }),
  })
  return { ...clockView(world), changed, jumps, runs_total: runs, runs: [...latest] }
}

function clockView(world: World) {
  const { state, offsetMs } = world.timeline.state()
  return {
    now: world.clock.now(),
    wall: world.clock.wall(),
    offset_ms: offsetMs,
    state,
    movable: isTestMoney(world.chain),
    next_cron: nextCron(world),
  }
}

/** What runs next by itself; null where nothing does. */
function nextCron(world: World): { name: string; at: number } | null {
  if (!world.config.crons) return null
  const times = world.crons
    .views()
    .flatMap(({ cron, nextRun }) => (nextRun === null ? [] : [{ name: cron.name, at: nextRun }]))
  return times.reduce<{ name: string; at: number } | null>(
    (least, one) => (least && least.at <= one.at ? least : one),
    null,
  )
}
