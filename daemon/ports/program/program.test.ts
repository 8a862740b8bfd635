import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findProgram, openProgram, programStanding } from './program.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'souk-program-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let made = 0
/** A shell script as a program of its own name. */
function script(body: string): string {
  made += 1
  const file = join(folder, `tool-${made}`)
  writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return file
}
const MARK = '600.0316'
const sleepers = () =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.startsWith('sleep') && line.includes(MARK)).length

describe('a program of this machine', () => {
  it('reads its input, says what it found, and sees neither our environment nor our folder', async () => {
    const tool = openProgram(script('cat; echo "[$HOME][$SECRET][$(pwd)]"'))
    const { stdout } = await tool.run({ args: [], stdin: 'in', maxBytes: 100 })
    expect(stdout.toString()).toBe('in[][][/]\n')
  })

  it('that is not there is absent, now or later', async () => {
    const tool = openProgram('no-such-tool', { path: folder })
    expect(tool.path()).toBeUndefined()
    await expect(tool.run({ args: [], maxBytes: 1 })).rejects.toMatchObject({ failure: 'absent' })
    expect(await programStanding(tool, { versionArgs: [], package: 'tool' })).toEqual({
      status: 'missing',
      detail: 'tool is not installed.',
      fix: 'install tool',
    })
    expect(findProgram('sh', 'relative:')).toBeUndefined()
  })

  it('is ended with everything that it started, when its time is up', async () => {
    const tool = openProgram(script(`sleep ${MARK} & sleep ${MARK}`), { deadlineMs: 300 })
    await expect(tool.run({ args: [], maxBytes: 100 })).rejects.toMatchObject({ failure: 'timeout' })
    await expect.poll(sleepers).toBe(0)
  })

  it('is ended when whoever asked goes, and takes along what it left behind', async () => {
    const asker = new AbortController()
    const tool = openProgram(script(`sleep ${MARK} & sleep ${MARK}`))
    const run = tool.run({ args: [], maxBytes: 100, signal: asker.signal })
    asker.abort()
    await expect(run).rejects.toMatchObject({ failure: 'aborted' })
    await expect.poll(sleepers).toBe(0)
  })

  it('that says too much is ended', async () => {
    const tool = openProgram(script('while :; do echo 0123456789; done'))
    await expect(tool.run({ args: [], maxBytes: 1_000 })).rejects.toMatchObject({ failure: 'output' })
  })

  it.skipIf(process.platform !== 'linux')('that wants too much memory does not get it', async () => {
    const tool = openProgram(script(`exec awk 'BEGIN { s = "x"; while (length(s) < 2e8) s = s s; print "got it" }'`), {
      maxMemoryMb: 64,
    })
    await expect(tool.run({ args: [], maxBytes: 100 })).rejects.toMatchObject({ failure: 'refused' })
  })

  it('that fails says so for the log alone', async () => {
    const tool = openProgram(script('echo "why" >&2; exit 3'))
    await expect(tool.run({ args: [], maxBytes: 100 })).rejects.toMatchObject({ failure: 'refused', said: 'why\n' })
  })

  it('has a few seats, and refuses what would wait too long', async () => {
    const tool = openProgram(script('cat; sleep 0.2'), { atOnce: 1, maxWaiting: 1 })
    const runs = [1, 2, 3].map((n) => tool.run({ args: [], stdin: String(n), maxBytes: 100 }))
    const ends = await Promise.allSettled(runs)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(ends[2]).toMatchObject({ reason: { failure: 'busy' } })
  })
})
