import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { entries } from '../../commands/index.ts'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { runs } from '../../fixtures/kit/depth.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { groups } from '../cli/run/groups.ts'

/*
 * Starts on a machine that has other things to do.
 * @deep many processes take all of the processor while it starts again and again
 * @alone they would take it from the tests beside them
 */

const BUSY = runs(20, 6)
const STARTS = runs(10, 1)

let home: string
let busy: ChildProcess[] = []
beforeEach(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-busy-'))
})
afterEach(async () => {
  for (const one of busy) one.kill('SIGKILL')
  busy = []
  await souk([], 'down', '--force')
  await rm(home, { recursive: true, force: true })
})

function keepBusy(nice: number): void {
  const words = ['-n', String(nice), process.execPath, '-e', 'for (;;) {}']
  busy = Array.from({ length: BUSY }, () => spawn('nice', words, { stdio: 'ignore' }))
}

/** The child runs under `before`; the command itself waits here. */
function souk(before: readonly string[], ...words: string[]) {
  const [program = process.execPath, ...rest] = [...before, process.execPath, PROGRAM]
  return runLine({ entries, groups }, [...words, '--json'], {
    env: { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home },
    self: [program, ...rest],
    now: () => Date.now(),
  })
}

async function startsAll(before: readonly string[]): Promise<void> {
  for (let start = 1; start <= STARTS; start += 1) {
    const started = await souk(before, 'up', '--port', '0')
    expect([start, started.code, started.err]).toEqual([start, 0, ''])
    expect((await souk(before, 'down')).code).toBe(0)
  }
}

test('under many busy processes every start ends well', { timeout: 1_800_000 }, async () => {
  keepBusy(0)
  await startsAll([])
})

test('at the lowest priority, under many busy processes, every start ends well', { timeout: 1_800_000 }, async () => {
  keepBusy(10)
  await startsAll(['nice', '-n', '19'])
})
