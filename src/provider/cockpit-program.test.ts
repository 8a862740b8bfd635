import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createPrograms } from './cockpit-program.ts'

// @slow it starts programs

/* Programs that the cockpit runs: what they get, how they end, and that nothing of them stays. */

const home = mkdtempSync(join(tmpdir(), 'souk-programs-'))
const env = {
  PATH: process.env.PATH,
  HOME: home,
  SOUK_API_KEY: 'sk_secret',
  SOUK_PASSPHRASE: 'secret',
  SOUK_WEBHOOK_SECRET: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
  DATABASE_URL: 'postgres://secret',
  LC_ALL: 'C',
}
const hangUps: (() => void)[] = []
const system = {
  env,
  onSignal(_: string, handler: () => void) {
    hangUps.push(handler)
    return () => hangUps.splice(0)
  },
  exit: () => undefined,
}
const places = { instance: 'default', config: join(home, 'config'), chosenData: undefined }
// The rest of a command's context is not used here.
const context = { globals: {}, places, system } as unknown as Parameters<typeof createPrograms>[0]
const place = { name: 'local', guarded: false }
const sh = (line: string) => ['/bin/sh', '-c', line] as const
const input = async () => ({ ok: true, value: 'one\ntwo\n' }) as const
const programs = createPrograms(context, place)

afterEach(() => rmSync(join(home, 'pid'), { force: true }))

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const pidIn = (file: string) => Number(readFileSync(join(home, file), 'utf8'))

it('gets the rows and its marketplace, and no key or secret', async () => {
  const { text, problem } = await programs.run({ words: sh('cat; env'), input })
  expect(problem).toBe('')
  expect(text).toMatch(/^one\ntwo\n/)
  expect(text).not.toMatch(/secret/i)
  expect(text).toContain(`SOUK_CONFIG_DIR=${places.config}`)
  expect(text).toContain('SOUK_REMOTE=local')
  const far = createPrograms(context, { name: 'prod', guarded: true })
  expect((await far.run({ words: sh('env'), input })).text).toContain('SOUK_REMOTE=prod')
})

it.each([
  ['exit 3', 'exit code 3'],
  ['kill -9 $$', 'ended by a signal'],
  ['yes', 'ended: more than 1,000,000 bytes of output'],
])('says how `%s` ended', async (line, why) => {
  expect((await programs.run({ words: sh(line), input })).problem).toBe(why)
})

it('is ended by ctrl-c with its children, and keeps what it has printed', async () => {
  const ended = programs.run({ words: sh('echo begun; sleep 600 & echo $! > $HOME/pid; wait'), input })
  await expect.poll(() => existsSync(join(home, 'pid')) && pidIn('pid') > 0).toBe(true)
  expect([programs.isBusy(), programs.stop(), programs.stop()]).toEqual([true, true, false])
  expect(await ended).toEqual({ text: 'begun\n', problem: 'ended by ctrl-c' })
  expect(programs.isBusy()).toBe(false)
  await expect.poll(() => isAlive(pidIn('pid'))).toBe(false)
})

it('leaves nothing in the background, and nothing when the cockpit closes', async () => {
  await programs.run({ words: sh('sleep 600 >/dev/null 2>&1 & echo $! > $HOME/pid'), input })
  await expect.poll(() => isAlive(pidIn('pid'))).toBe(false)
  const ended = programs.run({ words: sh('trap "" TERM; echo $$ > $HOME/pid2; sleep 600'), input })
  await expect.poll(() => existsSync(join(home, 'pid2')) && pidIn('pid2') > 0).toBe(true)
  expect(hangUps).toHaveLength(1)
  programs.close()
  expect((await ended).problem).toBe('ended by ctrl-c')
  expect(isAlive(pidIn('pid2'))).toBe(false)
  rmSync(home, { recursive: true, force: true })
})
