import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { entries } from '../../commands/index.ts'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { groups } from '../cli/run/groups.ts'
import { isAlive } from '../client/process.ts'

/* The real daemon in a process of its own: who set a switch last is who it obeys. */
// @deep real daemons are started again and again

const DEAD_TRIES = 2_000
const DEAD_POLL_MS = 5
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-switches-'))
})
afterEach(async () => {
  await runLine({ entries, groups }, ['down', '--force'], options())
  await rm(home, { recursive: true, force: true })
})

const options = () => ({
  env: { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home },
  self: [process.execPath, PROGRAM] as const,
  now: () => Date.now(),
})

async function souk(...words: string[]) {
  const { code, out, err } = await runLine({ entries, groups }, [...words, '--json'], options())
  expect({ words, code, err: code === 0 ? '' : err }).toEqual({ words, code: 0, err: '' })
  return JSON.parse(out)
}

const up = (...words: string[]) => souk('up', '--port', '0', '--crons', 'off', ...words)
const setCutover = (isOn: boolean) => souk('api', 'setFeatures', '-X', 'PUT', '-F', `checkout_v2=${isOn}`)
const unpause = () => souk('admin', 'platform', 'unpause')

/** Paused, and cut over. */
async function switches(): Promise<[boolean, boolean]> {
  const { paused, checkout_v2 } = await souk('api', '/health')
  return [paused, checkout_v2]
}

async function crash(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  for (let tries = 0; isAlive(pid); tries += 1) {
    if (tries > DEAD_TRIES) throw new Error(`${pid} goes on`)
    await new Promise((resolve) => setTimeout(resolve, DEAD_POLL_MS))
  }
}

test('the profile sets them at up, the administrator from then on, across restarts and crashes', async () => {
  await up('--profile', 'observed')
  expect(await switches()).toEqual([true, true])
  await souk('restart')
  expect(await switches()).toEqual([true, true])

  await unpause()
  await setCutover(false)
  await souk('restart')
  expect(await switches()).toEqual([false, false])
  await souk('restart')
  expect(await switches()).toEqual([false, false])

  await setCutover(true)
  await crash((await souk('status')).pid)
  await souk('restart')
  expect(await switches()).toEqual([false, true])

  await crash((await souk('status')).pid)
  await up()
  expect(await switches()).toEqual([false, true])

  await souk('down')
  await up('--profile', 'observed')
  expect(await switches()).toEqual([true, true])
})

test('a cutover that up switched stays as it was set since', async () => {
  await up('--checkout-v2', 'on')
  await setCutover(false)
  await souk('restart')
  expect(await switches()).toEqual([false, false])

  await souk('down')
  await up('--profile', 'observed', '--checkout-v2', 'off')
  await setCutover(true)
  await unpause()
  await souk('restart')
  expect(await switches()).toEqual([false, true])
})

test('a daemon that keeps nothing starts anew as it was asked to', async () => {
  await up('--profile', 'observed', '--ephemeral')
  await unpause()
  await souk('restart')
  expect(await switches()).toEqual([true, true])
})
