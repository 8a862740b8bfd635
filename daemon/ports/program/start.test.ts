import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRIORITY_STEPS } from '../priority.ts'
import type { ProcessOrder } from './spawn.ts'
import { type GroupUse, openStarter, type Starter } from './start.ts'

const MB = 1024 * 1024
const LINUX = process.platform === 'linux'
const GROUPS = '/proc/sys/kernel/sched_autogroup_enabled'
/** Others than root may lower one ten times a second, all together. */
const HAS_GROUPS = process.getuid?.() === 0 && existsSync(GROUPS) && readFileSync(GROUPS, 'utf8').trim() === '1'
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'souk-start-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const order = (script: string, change: Partial<ProcessOrder> = {}): ProcessOrder => ({
  file: '/bin/sh',
  args: ['-c', script],
  env: { PATH: process.env['PATH'] ?? '' },
  descriptors: ['in', 'out', 'out'],
  ...change,
})
const isThere = (pid: number | undefined) => {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

const ways: [string, () => Starter][] = [
  ['by this process', () => openStarter({ smallBytes: Number.POSITIVE_INFINITY })],
  ['by a small one', () => openStarter({ smallBytes: 0, idleMs: 200 })],
]

describe.each(LINUX ? ways : ways.slice(0, 1))('a process that is started %s', (_, open) => {
  it('reads its input and its file, is heard to the last byte, and ends with its code', async () => {
    const file = join(folder, 'given')
    writeFileSync(file, 'from the file')
    const script = 'cat; cat <&3 >&2; echo "$SECRET" >&2; exit 3'
    const { start } = open()
    const one = await start(order(script, { descriptors: ['in', 'out', 'out', { file }] }))
    const sent = Buffer.alloc(3 * MB, 'x')
    one.input(0).end(sent)
    const [out, said, code] = await Promise.all([buffer(one.output(1)), text(one.output(2)), one.exited])
    expect([out.equals(sent), said, code]).toEqual([true, 'from the file\n', 3])
    await one.closed
  })

  it.runIf(LINUX)('leaves the processor to whoever is answered', async () => {
    const one = await open().start(order('read go; cut -d" " -f19 /proc/$$/stat; cat /proc/$$/autogroup'))
    one.input(0).end('go\n')
    const [priority, group] = (await text(one.output(1))).split('\n')
    expect(priority).toBe(String(Math.min(19, getPriority() + PRIORITY_STEPS)))
    if (HAS_GROUPS) expect(group).toMatch(new RegExp(` nice ${PRIORITY_STEPS}$`))
  })

  it('that cannot be started says so', async () => {
    const { start } = open()
    await expect(start(order('', { file: '/nowhere/at-all' }))).rejects.toThrow('ENOENT')
    await expect(start(order('', { descriptors: ['in', 'out', 'out', { file: '/nowhere' }] }))).rejects.toThrow(
      'ENOENT',
    )
  })

  it.runIf(LINUX)('is told with the memory and the processor time that it takes', async () => {
    const { start } = open()
    const one = await start(order('i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read line; exit 0'))
    const told = Promise.withResolvers<GroupUse>()
    one.onUse((use) => use.cpuMs > 0 && told.resolve(use))
    expect((await told.promise).bytes).toBeGreaterThan(0)
    one.input(0).end()
    expect(await one.exited).toBe(0)
  })
})

describe.runIf(LINUX)('the process that starts others', () => {
  it('is the same for all, and ends when nothing was started for a while', async () => {
    const { start, helper } = openStarter({ smallBytes: 0, idleMs: 100 })
    const both = await Promise.all([start(order('read line')), start(order('read line'))])
    const pid = helper()
    expect(isThere(pid)).toBe(true)
    for (const one of both) one.input(0).end()
    await expect.poll(() => isThere(pid)).toBe(false)
    const next = await start(order('exit 4'))
    expect(await next.exited).toBe(4)
  })

  it('takes what it started along when it is killed, and the next start has another', async () => {
    const { start, helper } = openStarter({ smallBytes: 0, idleMs: 100 })
    const one = await start(order('sleep 600'))
    process.kill(helper() ?? 0, 'SIGKILL')
    expect(await one.exited).toBeNull()
    await one.closed
    await expect.poll(() => isThere(-one.pid)).toBe(false)
    const next = await start(order('exit 4'))
    expect(await next.exited).toBe(4)
  })

  it('leaves nothing behind when the daemon is killed', async () => {
    const program = join(folder, 'daemon.ts')
    const here = fileURLToPath(new URL('./start.ts', import.meta.url))
    writeFileSync(
      program,
      `import { openStarter } from ${JSON.stringify(here)}
       const { start, helper } = openStarter({ smallBytes: 0 })
       const one = await start(${JSON.stringify(order('sleep 600 & sleep 600'))})
       process.stdout.write(helper() + ' ' + one.pid)`,
    )
    const daemon = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(daemon.stdout, 'data')
    const [helper = 0, group = 0] = String(line).split(' ').map(Number)
    expect([isThere(helper), isThere(-group)]).toEqual([true, true])
    daemon.kill('SIGKILL')
    await expect.poll(() => [isThere(helper), isThere(-group)]).toEqual([false, false])
  })
})
