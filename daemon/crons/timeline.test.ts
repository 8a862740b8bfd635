import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { handClock, noTicks } from '../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts'
import { movableClock, UNMOVED } from '../ports/clock.ts'
import { type Cron, defineCron } from './cron.ts'
import { dailyAt, everyFiveMinutes, everyHour, everyMinute, type Schedule } from './schedule.ts'
import { scheduler } from './scheduler.ts'

// @slow months of days, one by one

const START = Date.UTC(2026, 5, 1, 12, 0, 30)
const path = '/dashboard/api/admin/clock'

let market: Marketplace | undefined
afterEach(async () => {
  await market?.close()
  market = undefined
})

async function open(crons?: readonly Cron[]): Promise<Marketplace> {
  const ports = { clock: handClock(START), ticker: noTicks, ...(crons ? { crons } : {}) }
  market = await openMarketplace({ crons: true }, ports)
  return market
}

const move = async (of: Marketplace, body: unknown) => of.admin('POST', path, { body })
const iso = (at: number) => new Date(at).toISOString()

/** A cron with items that fall due at known times; `done` notes when each was done. */
function cronWith(items: readonly number[], { name, schedule }: { name: string; schedule: Schedule }) {
  const done = new Map<number, number>()
  const runs: number[] = []
  const waiting = () => items.filter((due) => !done.has(due))
  const cron = defineCron({
    name,
    schedule,
    deadlineMs: 60_000,
    inHealth: true,
    async run({ now }) {
      runs.push(now)
      for (const due of waiting()) if (due <= now) done.set(due, now)
      return undefined
    },
    nextDue: async (_world, from) => waiting().find((due) => due >= from) ?? null,
  })
  return { cron, done, runs }
}

describe('the clock', () => {
  test('moves business time and never wall time', async () => {
    const of = await open([])
    const before = Date.now()
    const { body } = await move(of, { advance_ms: 31 * DAY_MS })
    expect(body).toMatchObject({
      now: iso(START + 31 * DAY_MS),
      offset_ms: 31 * DAY_MS,
      state: 'running',
      changed: true,
    })
    expect(Date.parse(body.wall) - before).toBeLessThan(HOUR_MS)
    expect(Date.parse((await of.admin('GET', path)).body.now)).toBe(START + 31 * DAY_MS)
  })

  test('goes on by itself after a move, and stands still while frozen', () => {
    const machine = handClock(START)
    const clock = movableClock(machine, UNMOVED)
    clock.apply(clock.settingAt(START + DAY_MS, 'running'))
    machine.set(START + 5)
    expect(clock.now()).toBe(START + DAY_MS + 5)
    clock.apply(clock.settingAt(clock.now(), 'frozen'))
    machine.set(START + HOUR_MS)
    expect(clock.now()).toBe(START + DAY_MS + 5)
    clock.apply(clock.settingAt(clock.now(), 'running'))
    machine.set(START + HOUR_MS + 7)
    expect(clock.now()).toBe(START + DAY_MS + 12)
  })

  test.each([
    { body: { advance_ms: DAY_MS }, now: START + DAY_MS, state: 'running' },
    { body: { set: iso(START + HOUR_MS), state: 'frozen' }, now: START + HOUR_MS, state: 'frozen' },
    { body: { state: 'frozen' }, now: START, state: 'frozen' },
  ])('a restart goes on from $body', async ({ body, now, state }) => {
    const of = await open([])
    expect((await move(of, body)).body.changed).toBe(true)
    await of.restart()
    const { body: after } = await of.admin('GET', path)
    expect([after.now, after.state]).toEqual([iso(now), state])
  })

  test('runs on from where it was frozen', async () => {
    const of = await open([])
    await move(of, { advance_ms: DAY_MS, state: 'frozen' })
    const { body } = await move(of, { state: 'running' })
    expect([body.now, body.state, body.changed]).toEqual([iso(START + DAY_MS), 'running', true])
  })

  test('refuses what is no move, or one into the past, and stays where it is', async () => {
    const of = await open([])
    for (const { body, code } of [
      { body: {}, code: 'invalid_request' },
      { body: { advance_ms: 0 }, code: 'invalid_request' },
      { body: { advance_ms: 1.5 }, code: 'invalid_request' },
      { body: { advance_ms: 5_000 * DAY_MS }, code: 'invalid_request' },
      { body: { advance_ms: 1, set: iso(START + DAY_MS) }, code: 'invalid_request' },
      { body: { set: 'tomorrow' }, code: 'invalid_request' },
      { body: { advance: '31d' }, code: 'invalid_request' },
      { body: { set: iso(START - 1) }, code: 'conflict' },
    ]) {
      expect([body, (await move(of, body)).body.code]).toEqual([body, code])
      expect((await of.admin('GET', path)).body).toMatchObject({ now: iso(START), offset_ms: 0 })
    }
    expect((await of.admin('GET', '/dashboard/api/admin/log')).body.total).toBe(0)
  })

  test('stands where a crash in the middle of a move left it, and is not left standing', async () => {
    const items = [1, 2, 3].map((hours) => START + hours * HOUR_MS)
    const { cron } = cronWith(items, { name: 'probe', schedule: everyHour })
    let left = Number.POSITIVE_INFINITY
    market = await openMarketplace(
      { crons: true },
      {
        clock: handClock(START),
        ticker: noTicks,
        crons: [cron],
        store: (opened) => ({
          ...opened,
          tx: (body) => {
            left -= 1
            return left < 0 ? Promise.reject(new Error('crashed')) : opened.tx(body)
          },
        }),
      },
    )
    left = 5
    expect((await move(market, { advance_ms: DAY_MS })).status).toBe(500)
    left = Number.POSITIVE_INFINITY
    await market.restart()
    const { body } = await market.admin('GET', path)
    const [{ last_success }] = (await market.admin('GET', '/dashboard/api/admin/crons')).body.crons
    expect(body.state).toBe('running')
    expect(Date.parse(last_success)).toBeGreaterThan(START)
    expect(Date.parse(body.now)).toBeGreaterThanOrEqual(Date.parse(last_success))
  })

  test('a move is an act of the log, also one that changed nothing', async () => {
    const of = await open([])
    await move(of, { advance_ms: HOUR_MS })
    await move(of, { state: 'running' })
    const { body } = await of.admin('GET', '/dashboard/api/admin/log')
    expect(body.acts.map((act: { act: string; changed: boolean }) => [act.act, act.changed])).toEqual([
      ['clock.move', false],
      ['clock.move', true],
    ])
    expect(body.acts[1].detail).toEqual({ from: iso(START), to: iso(START + HOUR_MS), state: 'running' })
  })

  test('is not moved where money is real', async () => {
    market = await openMarketplace({}, { clock: handClock(START) })
    const { ctx } = market.daemon
    Object.assign(ctx, { chain: { ...ctx.chain, mode: 'base' } })
    const refused = await move(market, { advance_ms: 1 })
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
    expect((await market.admin('GET', path)).body).toMatchObject({ movable: false, offset_ms: 0 })
  })
})

describe('advancing', () => {
  test('each item is done at the first run after it falls due, in the order of time, across crons', async () => {
    const a = cronWith([START + 90_000, START + 26 * HOUR_MS], { name: 'minutely', schedule: everyMinute })
    const b = cronWith([START + 60_000, START + 30 * HOUR_MS], { name: 'daily', schedule: dailyAt(3) })
    const of = await open([a.cron, b.cron])
    const { body } = await move(of, { advance_ms: 3 * DAY_MS })
    expect([...a.done.values()].map(iso)).toEqual(['2026-06-01T12:02:00.000Z', '2026-06-02T14:01:00.000Z'])
    expect([...b.done.values()].map(iso)).toEqual(['2026-06-02T03:00:00.000Z', '2026-06-03T03:00:00.000Z'])
    const times = body.runs.map((run: { at: string }) => run.at)
    expect(times).toEqual([...times].sort())
    expect(body.now).toBe(iso(START + 3 * DAY_MS))
  })

  test('a cron with nothing due in between is recorded once a jump', async () => {
    const idle = cronWith([], { name: 'idle', schedule: everyFiveMinutes })
    const busy = cronWith([START + DAY_MS, START + 2 * DAY_MS], { name: 'busy', schedule: everyHour })
    const of = await open([idle.cron, busy.cron])
    const { body } = await move(of, { advance_ms: 31 * DAY_MS })
    expect([body.jumps, idle.runs.length, busy.runs.length]).toEqual([3, 3, 3])
    expect((await of.admin('GET', '/dashboard/api/admin/crons')).body.crons[0].runs).toHaveLength(3)
  })

  test('on a jump each cron runs at its own last time, the earlier one first', async () => {
    const crons = [
      cronWith([], { name: 'minutely', schedule: everyMinute }).cron,
      cronWith([], { name: 'daily', schedule: dailyAt(3) }).cron,
      cronWith([], { name: 'hourly', schedule: everyHour }).cron,
    ]
    const of = await open(crons)
    const { body } = await move(of, { set: '2026-06-02T05:17:20.000Z' })
    expect(body.runs.map((run: { name: string; at: string }) => [run.name, run.at])).toEqual([
      ['daily', '2026-06-02T03:00:00.000Z'],
      ['hourly', '2026-06-02T05:00:00.000Z'],
      ['minutely', '2026-06-02T05:17:00.000Z'],
    ])
  })

  test('nothing begins by itself while the clock is moved', async () => {
    const look = defineCron({
      ...cronWith([], { name: 'look', schedule: everyMinute }).cron,
      run: async ({ ctx }) => {
        scheduler.of(ctx).tick()
        return undefined
      },
    })
    const of = await open([look, cronWith([], { name: 'other', schedule: everyMinute }).cron])
    await move(of, { advance_ms: MINUTE_MS })
    const { body } = await of.admin('GET', '/dashboard/api/admin/crons')
    expect(body.crons.map((cron: { runs: { trigger: string }[] }) => cron.runs.map((run) => run.trigger))).toEqual([
      ['clock'],
      ['clock'],
    ])
  })

  test('an item that is never done does not keep the clock from moving', async () => {
    const stuck = defineCron({
      name: 'stuck',
      schedule: everyMinute,
      deadlineMs: 60_000,
      inHealth: true,
      run: async () => undefined,
      nextDue: async (_world, from) => (from <= START + HOUR_MS ? START + HOUR_MS : null),
    })
    const of = await open([stuck])
    const { body } = await move(of, { advance_ms: 31 * DAY_MS })
    expect([body.now, body.jumps]).toEqual([iso(START + 31 * DAY_MS), 2])
  })

  test('a paused cron does not run on the way', async () => {
    const probe = cronWith([START + DAY_MS], { name: 'probe', schedule: everyHour })
    const of = await open([probe.cron])
    await of.admin('POST', '/dashboard/api/admin/crons/probe/pause')
    const { body } = await move(of, { advance_ms: 2 * DAY_MS })
    expect([body.now, probe.runs]).toEqual([iso(START + 2 * DAY_MS), []])
  })

  test('two moves at once are one after the other', async () => {
    const probe = cronWith([START + HOUR_MS, START + DAY_MS], { name: 'probe', schedule: everyHour })
    const of = await open([probe.cron])
    await Promise.all([move(of, { advance_ms: DAY_MS }), move(of, { advance_ms: DAY_MS })])
    const { body } = await of.admin('GET', path)
    expect(Date.parse(body.now)).toBeGreaterThanOrEqual(START + DAY_MS)
    expect(probe.runs).toEqual([...new Set(probe.runs)].sort((one, two) => one - two))
    expect(probe.done.size).toBe(2)
  })

  test('whatever falls due, on whichever schedules: done once, on time, in order', async () => {
    const schedules = [everyMinute, everyFiveMinutes, everyHour, dailyAt(3)]
    const due = fc.uniqueArray(fc.integer({ min: 1, max: 4 * DAY_MS }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(due, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 5 * DAY_MS }),
        async (all, far) => {
          const probes = all.map((items, i) => {
            const schedule = schedules[i] as Schedule
            const times = items.map((after) => START + after).sort((one, two) => one - two)
            return { ...cronWith(times, { name: `cron-${i}`, schedule }), schedule, times }
          })
          const of = await open(probes.map((probe) => probe.cron))
          await move(of, { advance_ms: far })
          await of.close()
          market = undefined
          for (const { done, schedule, times, runs } of probes) {
            const expected = times
              .map((at) => [at, schedule.after(at - 1)] as const)
              .filter(([, at]) => at <= START + far)
            expect([...done]).toEqual(expected)
            expect(runs).toEqual([...new Set(runs)].sort((one, two) => one - two))
          }
        },
      ),
      { numRuns: 12 },
    )
  })
})

test('31 days later, and with all crons run on the way, unmodified x402 clients still buy', async () => {
  market = await openMarketplace({ crons: true }, { ticker: noTicks })
  const [before, after] = [await market.buyer('1.00'), await market.buyer('1.00')]
  const url = `${market.url()}/v1/services/${await market.serviceId('qr_code')}/purchase`
  const buy = async (fetch_: typeof fetch, key: string) =>
    fetch_(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ data: 'time' }),
    })
  expect((await buy(before.fetch(1), 'first')).status).toBe(200)
  const moved = await move(market, { advance_ms: 31 * DAY_MS })
  expect([moved.status, moved.body.runs.every((run: { result: string }) => run.result === 'success')]).toEqual([
    200,
    true,
  ])
  for (const version of [1, 2] as const) {
    expect((await buy(after.fetch(version), `later-${version}`)).status).toBe(200)
  }
  await market.restart()
  const health = await market.call('GET', '/health')
  const wall = Date.now()
  expect(Math.abs(health.body.timestamp - wall)).toBeLessThan(HOUR_MS)
  expect(Date.parse(health.body.crons['auto-refund'].last_success) - wall).toBeGreaterThan(31 * DAY_MS - MINUTE_MS * 5)
})
