import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { entries } from '../../commands/index.ts'
import { type Ran, type RunOptions, runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { sampled } from '../../fixtures/kit/depth.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { groups } from '../cli/run/groups.ts'
import { isAlive } from '../client/process.ts'
import { keysOf } from '../core/record.ts'
import { type StartStep, startSteps } from '../model/start.ts'

/*
 * The built program as a real process that is stopped in the midst of its start, and what every command says then.
 * @slow a start of the whole program for each of its steps
 */

const STOPPER = fileURLToPath(new URL('../../fixtures/kit/stop-at-step.ts', import.meta.url))

/** A commit stops a start at every third of its steps. */
const STEPS_ONE_IN = 3

let home: string
beforeAll(() => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
})
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-starting-'))
})
afterEach(async () => {
  await souk('down', '--force')
  await rm(home, { recursive: true, force: true })
})

function soukWith(options: RunOptions, ...words: string[]): Promise<Ran> {
  return runLine({ entries, groups }, words, {
    env: { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home },
    self: [process.execPath, `--import=${STOPPER}`, PROGRAM],
    now: () => Date.now(),
    ...options,
  })
}
const souk = (...words: string[]) => soukWith({}, ...words)
const json = async (...words: string[]) => JSON.parse((await souk(...words, '--json')).out)
const file = () => join(home, '.local/state/souk/default/run/daemon.json')
const registered = () => (existsSync(file()) ? JSON.parse(readFileSync(file(), 'utf8')) : undefined)
const isStopped = (pid: number) => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1) ?? '')

async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The steps of every start; only one with --spare waits for another daemon. */
const steps = keysOf(startSteps).filter((step) => step !== 'front')

/** A start that stands still at a step. */
async function stoppedAt(step: StartStep) {
  await writeFile(join(home, 'stop-at'), step)
  const up = souk('up', '--port', '0', '--seed', step === 'history' ? 'demo' : 'house', '--json')
  const pid: number = await until(() => {
    const now = registered()
    return now?.state === 'starting' && now.step === step && isStopped(now.pid) && now.pid
  })
  return { up, pid }
}

describe('a start that stands still', () => {
  test.each(sampled(steps, STEPS_ONE_IN))('at "%s" is known to every command, and down ends it', async (step) => {
    const { up, pid } = await stoppedAt(step)
    expect(await json('status')).toMatchObject({ state: 'starting', pid, start: { step }, next: 'souk up' })
    const joined = await souk('up', '--timeout', '1ms')
    expect([joined.code, joined.err]).toEqual([8, expect.stringContaining(`still starting (pid ${pid})`)])
    const other = await souk('up', '--log-level', 'debug')
    expect([other.code, other.err]).toEqual([6, expect.stringContaining('--log-level')])
    expect((await souk('reset', '--yes')).code).toBe(6)
    expect(await json('doctor', '--only', 'daemon')).toMatchObject({ checks: [{ id: 'daemon', status: 'warning' }] })
    const health = await souk('health')
    expect([health.code, health.err]).toEqual([10, expect.stringContaining('still starting')])
    const down = await json('down', '--grace', '100ms')
    expect(down).toMatchObject({ instances: [{ pid, stopped: true }] })
    expect((await up).code).not.toBe(0)
    expect([isAlive(pid), registered()]).toEqual([false, undefined])
    expect(await json('status')).toMatchObject({ state: 'stopped' })
  })

  test('goes on, and the command that joined it gets the same daemon', async () => {
    const { up, pid } = await stoppedAt('store')
    const joined = souk('up', '--json')
    process.kill(pid, 'SIGCONT')
    const [first, second] = [await up, await joined].map(({ out }) => JSON.parse(out))
    expect([first.pid, first.already_running]).toEqual([pid, false])
    expect([second.pid, second.already_running]).toEqual([pid, true])
    expect(registered()).toMatchObject({ state: 'serving', seed: 'house' })
  })

  test('restart begins it anew with the same options', async () => {
    const { up, pid } = await stoppedAt('market')
    await writeFile(join(home, 'stop-at'), '')
    process.kill(pid, 'SIGCONT')
    const again = await json('restart')
    expect(again.pid).not.toBe(pid)
    await up
    expect(registered()).toMatchObject({ pid: again.pid, state: 'serving' })
  })

  test('without progress for 60 s is ended, and the log is named', async () => {
    await writeFile(join(home, 'stop-at'), 'chain')
    const began = Date.now()
    // Its minute passes in a few seconds.
    const { code, err } = await soukWith({ now: () => began + (Date.now() - began) * 20 }, 'up', '--port', '0')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/no progress for 60 s \(opening the chain\)[\s\S]*daemon\.log/),
    ])
    expect(registered()).toBeUndefined()
  })
})

test('while the demo is lived through, its days are counted and whoever asks is told to come back', async () => {
  const up = souk('up', '--port', '0', '--seed', 'demo', '--json')
  const { url } = await until(() => {
    const now = registered()
    return /^day \d+ of 98$/.test(now?.detail ?? '') && now
  })
  const early = await fetch(`${url}/health`)
  expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await early.json()).toMatchObject({ code: 'unavailable' })
  expect(await json('down')).toMatchObject({ instances: [{ how: 'graceful' }] })
  expect((await up).code).not.toBe(0)
  expect(await json('status')).toMatchObject({ state: 'stopped' })
})

test('a kill while the demo is lived through leaves no folder behind once it starts again', async () => {
  const up = souk('up', '--port', '0', '--seed', 'demo', '--json')
  const { pid } = await until(() => {
    const now = registered()
    return /^day \d+ of 98$/.test(now?.detail ?? '') && now
  })
  const data = join(home, '.local/share/souk/default')
  expect(readdirSync(data)).toContainEqual(expect.stringMatching(/^backup-/))
  process.kill(pid, 'SIGKILL')
  expect((await up).code).not.toBe(0)
  await json('up', '--port', '0', '--seed', 'none')
  expect(readdirSync(data).filter((name) => name.startsWith('backup-'))).toEqual([])
  expect(readdirSync(home).filter((name) => name.startsWith('souk-'))).toEqual([])
})
