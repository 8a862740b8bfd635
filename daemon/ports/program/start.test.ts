import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRIORITY_STEPS } from '../priority.ts'
import { type GroupUse, type ProcessOrder, startProcess } from './start.ts'

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

describe('a process that is started', () => {
  it('reads its input and its file, is heard to the last byte, and ends with its code', async () => {
    const file = join(folder, 'given')
    writeFileSync(file, 'from the file')
    const script = 'cat; cat <&3 >&2; echo "$SECRET" >&2; exit 3'
    const one = await startProcess(order(script, { descriptors: ['in', 'out', 'out', { file }] }))
    const sent = Buffer.alloc(3 * MB, 'x')
    one.input(0).end(sent)
    const [out, said, code] = await Promise.all([buffer(one.output(1)), text(one.output(2)), one.exited])
    expect([out.equals(sent), said, code]).toEqual([true, 'from the file\n', 3])
    await one.closed
  })

  it.runIf(LINUX)('leaves the processor to whoever is answered', async () => {
    const one = await startProcess(order('read go; cut -d" " -f19 /proc/$$/stat; cat /proc/$$/autogroup'))
    one.input(0).end('go\n')
    const [priority, group] = (await text(one.output(1))).split('\n')
    expect(priority).toBe(String(Math.min(19, getPriority() + PRIORITY_STEPS)))
    if (HAS_GROUPS) expect(group).toMatch(new RegExp(` nice ${PRIORITY_STEPS}$`))
  })

  it('that cannot be started says so', async () => {
    await expect(startProcess(order('', { file: '/nowhere/at-all' }))).rejects.toThrow('ENOENT')
    await expect(startProcess(order('', { descriptors: ['in', 'out', 'out', { file: '/nowhere' }] }))).rejects.toThrow(
      'ENOENT',
    )
  })

  it.runIf(LINUX)('is told with the memory and the processor time that it takes', async () => {
    const one = await startProcess(order('i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read line; exit 0'))
    const told = Promise.withResolvers<GroupUse>()
    one.onUse((use) => use.cpuMs > 0 && told.resolve(use))
    expect((await told.promise).bytes).toBeGreaterThan(0)
    one.input(0).end()
    expect(await one.exited).toBe(0)
  })
})
