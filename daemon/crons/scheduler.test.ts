import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { gate } from '../../fixtures/kit/faults.ts'
import { handClock, noTicks } from '../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts'
import { allCrons } from '../app.ts'
import type { Ports } from '../outside.ts'
import { type Cron, type CronResult, type CronRound, defineCron } from './cron.ts'
import { everyHour, everyMinute, schedule } from './schedule.ts'
import { scheduler } from './scheduler.ts'

/** Half a minute past noon: the next time of `everyMinute` is 12:01. */
const NOON = Date.UTC(2026, 5, 1, 12, 0, 30)
const at = (minutes: number) => NOON - 30_000 + minutes * MINUTE_MS

let market: Marketplace | undefined
afterEach(async () => {
  await market?.close()
  market = undefined
})

function cronOf(run: (round: CronRound) => Promise<CronResult>, facts: Partial<Cron> = {}): Cron {
  return defineCron({ name: 'probe', schedule: everyMinute, deadlineMs: 60_000, inHealth: true, run, ...facts })
}

async function open(crons: readonly Cron[], options: { automatic?: boolean; ports?: Ports } = {}) {
  const clock = handClock(NOON)
  market = await openMarketplace(
    { crons: options.automatic ?? true },
    { clock, ticker: noTicks, crons, ...options.ports },
  )
  const runs = scheduler.of(market.daemon.ctx)
  /** Sets the time, lets what is due begin, and waits for it. */
  const tickAt = async (time: number) => {
    clock.set(time)
    runs.tick()
    await runs.exclusively(async () => undefined)
  }
  return { market, clock, runs, tickAt, row: () => runs.views()[0]!.row }
}

const health = async ({ market: of }: { market: Marketplace }) => (await of.call('GET', '/health')).body.crons.probe

test('a cron runs at the times of its schedule and not between them', async () => {
  const ran: number[] = []
  const opened = await open([cronOf(async ({ now }) => void ran.push(now))])
  for (const time of [at(0.6), at(1), at(1.5), at(2.1), at(3)]) await opened.tickAt(time)
  expect(ran).toEqual([at(1), at(2.1), at(3)])
  expect(opened.row().runs.map((run) => [run.at, run.trigger, run.result])).toEqual([
    [at(3), 'schedule', 'success'],
    [at(2.1), 'schedule', 'success'],
    [at(1), 'schedule', 'success'],
  ])
})

test('its state row is what health shows: success, skip with its reason, failure, age', async () => {
  const results: (() => CronResult)[] = [
    () => undefined,
    () => ({ skip: 'paused' }),
    () => {
      throw new Error('no luck')
    },
    () => undefined,
  ]
  const opened = await open([cronOf(async () => results.shift()?.())])
  const iso = (time: number) => new Date(time).toISOString()
  const never = { last_success: null, last_skipped: null, last_failure: null, age_seconds: null, stale: false }
  expect(await health(opened)).toEqual(never)
  await opened.tickAt(at(1))
  expect(await health(opened)).toEqual({ ...never, last_success: iso(at(1)), age_seconds: 0 })
  await opened.tickAt(at(2))
  const skipped = { ...never, last_success: iso(at(1)), last_skipped: iso(at(2)), age_seconds: 60 }
  expect(await health(opened)).toEqual({ ...skipped, skip_reason: 'paused' })
  await opened.tickAt(at(3))
  expect(await health(opened)).toEqual({ ...skipped, last_failure: iso(at(3)), age_seconds: 120 })
  expect(opened.row().runs[0]).toMatchObject({ result: 'failed', reason: 'Error: no luck' })
  await opened.tickAt(at(4))
  expect(await health(opened)).toMatchObject({ last_success: iso(at(4)), age_seconds: 0 })
})

test('without a success for more than three intervals it is stale, counted from its first day', async () => {
  const opened = await open([
    cronOf(async () => {
      throw new Error('never')
    }),
  ])
  await opened.tickAt(NOON + 3 * MINUTE_MS)
  expect((await health(opened)).stale).toBe(false)
  await opened.tickAt(NOON + 3 * MINUTE_MS + 1)
  expect((await health(opened)).stale).toBe(true)
})

test('one run of a cron at a time, whoever asks for it', async () => {
  const door = gate()
  let [open_, most, total] = [0, 0, 0]
  const opened = await open([
    cronOf(async () => {
      open_ += 1
      total += 1
      most = Math.max(most, open_)
      await door.wait()
      open_ -= 1
      return undefined
    }),
  ])
  opened.clock.set(at(1))
  opened.runs.tick()
  await door.reached
  opened.clock.set(at(2))
  opened.runs.tick()
  const asked = Promise.all([1, 2, 3].map(() => opened.runs.run('probe')))
  door.open()
  await asked
  expect([most, total]).toEqual([1, 4])
})

test('a run past its deadline has failed, is told to end, and keeps the cron from starting until it did', async () => {
  const door = gate()
  const told = Promise.withResolvers<void>()
  const opened = await open([
    cronOf(
      async ({ signal }) => {
        signal.addEventListener('abort', () => told.resolve())
        await door.wait()
        return undefined
      },
      { deadlineMs: 5 },
    ),
  ])
  await opened.tickAt(at(1))
  await told.promise
  expect(opened.row()).toMatchObject({ last_failure: at(1), last_success: null })
  expect(opened.row().runs[0]?.reason).toBe('not finished after 5 ms')
  await opened.tickAt(at(2))
  expect(opened.row().runs).toHaveLength(1)
  const refused = await opened.market.admin('POST', '/dashboard/api/admin/crons/probe/run')
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  door.open()
  await new Promise((done) => setImmediate(done))
  await opened.tickAt(at(3))
  expect(opened.row()).toMatchObject({ last_success: at(3) })
})

test('times that were missed are made up for by one run, also after a restart', async () => {
  const ran: [number, number][] = []
  const opened = await open([cronOf(async ({ now, previousRun }) => void ran.push([now, previousRun]))])
  await opened.tickAt(at(1))
  await opened.tickAt(at(30))
  expect(opened.row().runs[0]?.trigger).toBe('catch_up')
  opened.clock.set(at(90))
  await opened.market.restart()
  await scheduler.of(opened.market.daemon.ctx).exclusively(async () => undefined)
  expect(ran).toEqual([
    [at(1), NOON],
    [at(30), at(1)],
    [at(90), at(30)],
  ])
  const rows = scheduler
    .of(opened.market.daemon.ctx)
    .views()
    .map(({ row }) => row.runs.map((run) => run.trigger))
  expect(rows).toEqual([['catch_up', 'catch_up', 'schedule']])
})

test('a clock that is behind the one of an earlier start does not keep crons waiting for it', async () => {
  const ran: number[] = []
  const opened = await open([cronOf(async ({ now }) => void ran.push(now))])
  await opened.tickAt(at(60))
  opened.clock.set(at(5))
  await opened.market.restart()
  expect((await health(opened)).age_seconds).toBe(0)
  opened.clock.set(at(6))
  scheduler.of(opened.market.daemon.ctx).tick()
  await scheduler.of(opened.market.daemon.ctx).exclusively(async () => undefined)
  expect(ran).toEqual([at(60), at(6)])
})

test('with the real ticker they run by themselves', async () => {
  const ran = Promise.withResolvers<void>()
  const run = async () => ran.resolve()
  const each = schedule('* * * * * *')
  market = await openMarketplace(
    { crons: true },
    { crons: [cronOf(async () => void (await run()), { schedule: each })] },
  )
  await ran.promise
})

test('the history is bounded', async () => {
  const opened = await open([cronOf(async () => undefined)])
  for (let minute = 1; minute <= 25; minute += 1) await opened.tickAt(at(minute))
  expect(opened.row().runs.map((run) => run.at)).toEqual(Array.from({ length: 20 }, (_, i) => at(25 - i)))
})

test('with crons off none runs by itself, and each still runs when told', async () => {
  const ran: number[] = []
  const opened = await open([cronOf(async ({ now }) => void ran.push(now))], { automatic: false })
  const { body } = await opened.market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: HOUR_MS } })
  expect([body.runs_total, ran]).toEqual([0, []])
  const told = await opened.market.admin('POST', '/dashboard/api/admin/crons/probe/run')
  expect([told.status, told.body.run.result, told.body.run.trigger]).toEqual([200, 'success', 'admin'])
  expect(ran).toEqual([NOON + HOUR_MS])
})

test('what a cron leaves running does not outlive a stop, and its schedule is made up for', async () => {
  let runs = 0
  const ended: boolean[] = []
  const started = Promise.withResolvers<void>()
  const opened = await open([
    cronOf(async ({ signal }) => {
      runs += 1
      if (runs > 1) return undefined
      started.resolve()
      await new Promise((done) => signal.addEventListener('abort', done))
      ended.push(true)
      return undefined
    }),
  ])
  opened.clock.set(at(1))
  opened.runs.tick()
  await started.promise
  await opened.market.restart()
  await scheduler.of(opened.market.daemon.ctx).exclusively(async () => undefined)
  expect([runs, ended]).toEqual([2, [true]])
  expect(scheduler.of(opened.market.daemon.ctx).views()[0]?.row.runs).toHaveLength(1)
})

describe('the rows', () => {
  const path = '/dashboard/api/admin/crons'

  test('list, pause and resume: a paused cron has no next run, and runs when told', async () => {
    const ran: number[] = []
    const opened = await open([cronOf(async ({ now }) => void ran.push(now), { schedule: everyHour })])
    const { market: of } = opened
    const paused = await of.admin('POST', `${path}/probe/pause`)
    expect([paused.status, paused.body.changed, paused.body.paused, paused.body.next_run]).toEqual([
      200,
      true,
      true,
      null,
    ])
    expect((await of.admin('POST', `${path}/probe/pause`)).body).toMatchObject({
      changed: false,
      paused_at: paused.body.paused_at,
    })
    await opened.tickAt(at(70))
    expect(ran).toEqual([])
    await of.admin('POST', `${path}/probe/run`)
    expect(ran).toEqual([at(70)])
    const resumed = await of.admin('POST', `${path}/probe/resume`)
    expect(resumed.body).toMatchObject({ changed: true, paused: false, next_run: '2026-06-01T14:00:00.000Z' })
    const { body } = await of.admin('GET', path)
    expect(body).toMatchObject({
      automatic: true,
      crons: [
        { name: 'probe', schedule: '0 0 * * * *', interval_seconds: 3600, paused: false, runs: [{ trigger: 'admin' }] },
      ],
    })
    const log = await of.admin('GET', '/dashboard/api/admin/log')
    expect(log.body.acts.map((act: { act: string; changed: boolean }) => [act.act, act.changed])).toEqual([
      ['cron.resume', true],
      ['cron.run', true],
      ['cron.pause', false],
      ['cron.pause', true],
    ])
  })

  test('a paused cron is still paused after a restart', async () => {
    const opened = await open([cronOf(async () => undefined)])
    await opened.market.admin('POST', `${path}/probe/pause`)
    await opened.market.restart()
    expect((await opened.market.admin('GET', path)).body.crons[0].paused).toBe(true)
  })

  test.each(['run', 'pause', 'resume'])('%s of what is no cron is a 404', async (verb) => {
    const opened = await open([cronOf(async () => undefined)])
    const answer = await opened.market.admin('POST', `${path}/nothing/${verb}`)
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  })
})

describe('the list', () => {
  const observed = [
    'escrow-monitor',
    'subscriptions',
    'referral-rewards',
    'auto-refund',
    'provider-settlement',
    'reputation',
    'posting-notify-retries',
    'ofac-sdn-refresh',
    'splitter-distribute',
  ]

  test('health has none but the nine of the specification', async () => {
    market = await openMarketplace()
    const names = Object.keys((await market.call('GET', '/health')).body.crons)
    expect(names).toEqual(allCrons.filter((cron) => cron.inHealth).map((cron) => cron.name))
    expect(names.filter((name) => !observed.includes(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(2)
  })

  test('each cron is in the file of its name', () => {
    const files = readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' }).map((file) =>
      basename(file),
    )
    expect(allCrons.map((cron) => `${cron.name}.ts`).filter((file) => !files.includes(file))).toEqual([])
    expect(new Set(allCrons.map((cron) => cron.name)).size).toBe(allCrons.length)
  })
})
