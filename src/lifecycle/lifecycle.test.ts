import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { entries } from '../../commands/index.ts'
import { type Ran, runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { groups } from '../cli/run/groups.ts'
import { isAlive, processStartedMs } from '../client/process.ts'
import { memoryVariables } from './memory.ts'
import { bundleStub, stubDoor } from './stub.testkit.ts'

// @slow real daemons come and go

/* Real processes, files and signals; only the marketplace inside the daemon is a small server. */

let home: string
let bundle: string
let entry: string
const servers: Server[] = []

beforeAll(async () => {
  bundle = await mkdtemp(join(tmpdir(), 'souk-stub-'))
  entry = await bundleStub(bundle)
})
afterAll(() => rm(bundle, { recursive: true }))

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-life-'))
})

afterEach(async () => {
  await souk('down', '--all', '--force')
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  await rm(home, { recursive: true, force: true })
})

const env = () => ({
  HOME: home,
  PATH: process.env.PATH ?? '',
  TMPDIR: home,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  MY_SECRET: 'token',
})

/** The command line runs here; what it starts runs in processes of its own. */
function souk(...words: string[]): Promise<Ran> {
  return runLine({ entries, groups }, words, {
    env: env(),
    self: [process.execPath, entry],
    daemon: stubDoor,
    now: () => Date.now(),
  })
}

const inForeground = (...words: string[]) => started('up', '--foreground', '--port', '0', ...words)

const started = (...words: string[]) => run([entry, ...words])

/** Like `npm` of an older Node: a parent that starts the program on the packaged Node, in a group of their own. */
function launchedInForeground() {
  const launcher = JSON.stringify(join(import.meta.dirname, '../cli/run/old-node.ts'))
  const code = `import(${launcher}).then((old) => {
    old.startOnPackagedNode(${JSON.stringify(pathToFileURL(entry))})
    process.on('SIGINT', () => console.log('forwarded'))
  })`
  return run(['--eval', code, '-', 'up', '--foreground', '--port', '0'], { detached: true })
}

function run(words: readonly string[], options: { readonly detached?: true } = {}) {
  const child = spawn(process.execPath, words, { env: env(), stdio: ['ignore', 'pipe', 'inherit'], ...options })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  return { child, ended, out: () => out }
}

const json = async (...words: string[]) => JSON.parse((await souk(...words, '--json')).out)
const runtime = () => join(home, '.local/state/souk/default/run')
const registration = () => JSON.parse(readFileSync(join(runtime(), 'daemon.json'), 'utf8'))
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

const isServing = () => existsSync(join(runtime(), 'daemon.json')) && registration().state === 'serving'

/** Waits for a fact, as long as the machine needs. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function listen(answer: string): Promise<number> {
  const server = createServer((_request, response) => response.end(answer))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function freePort(): Promise<number> {
  const port = await listen('')
  const server = servers.pop()
  await new Promise((resolve) => server?.close(resolve))
  return port
}

describe('up and down', () => {
  it('start, start again, look, log, stop, stop again', async () => {
    const first = await json('up', '--port', '0')
    expect(first).toMatchObject({ state: 'running', already_running: false, persistent: true })
    expect((await souk('up', '--port', '0')).out).toMatch(/next +souk wallet new /)
    expect(await json('up', '--port', '0')).toMatchObject({ already_running: true, pid: first.pid, url: first.url })
    expect(await json('status')).toMatchObject({ state: 'running', pid: first.pid, platform: { paused: false } })
    expect((await souk('logs', '--source', 'http', '--grep', 'health', '--tail', '1', '--ndjson')).out).toContain(
      '"msg":"/health"',
    )
    expect(await json('down')).toMatchObject({
      instances: [{ how: 'graceful', pid: first.pid, port_free: true }],
    })
    expect(isAlive(first.pid)).toBe(false)
    expect(existsSync(join(runtime(), 'daemon.json'))).toBe(false)
    expect(await json('status')).toMatchObject({ state: 'stopped', last_stop: expect.any(String) })
    expect(await json('down')).toMatchObject({ instances: [{ how: 'absent' }] })
    expect((await souk('status', '--exit-status')).code).toBe(10)
  })

  it('leave a child of its own: root folder, chosen environment, private files', async () => {
    const { pid } = await json('up', '--port', '0')
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/')
    const given = readFileSync(`/proc/${pid}/environ`, 'utf8')
    expect(given).toContain(`HOME=${home}`)
    expect(given).not.toContain('MY_SECRET')
    for (const [name, value] of Object.entries(memoryVariables)) expect(given).toContain(`${name}=${value}`)
    expect(mode(join(runtime(), 'daemon.json'))).toBe('600')
    expect(mode(runtime())).toBe('700')
    expect(mode(join(home, '.local/state/souk/default/daemon.log'))).toBe('600')
    expect(mode(join(home, '.local/share/souk/default'))).toBe('700')
    expect(Object.keys(registration()).sort()).toEqual([
      'chain',
      'data_dir',
      'instance_id',
      'pid',
      'seed',
      'started_at',
      'state',
      'url',
      'version',
    ])
  })

  it('at the same moment make one daemon', async () => {
    const port = String(await freePort())
    const [a, b] = await Promise.all([json('up', '--port', port), json('up', '--port', port)])
    expect(a.pid).toBe(b.pid)
    expect([a.already_running, b.already_running].sort()).toEqual([false, true])
  })

  it('keep nothing of an ephemeral one', async () => {
    const { data_dir, persistent } = await json('up', '--port', '0', '--ephemeral')
    expect([existsSync(data_dir), persistent]).toEqual([true, false])
    await souk('down')
    expect(existsSync(data_dir)).toBe(false)
  })

  it('restart as it was, under another pid', async () => {
    const port = await freePort()
    const first = await json('up', '--port', String(port))
    const again = await json('restart')
    expect(again.url).toBe(first.url)
    expect(again.pid).not.toBe(first.pid)
  })

  it('keep instances apart and end them all', async () => {
    const one = await json('up', '--port', '0')
    const two = await json('up', '--port', '0', '--instance', 'two')
    expect(two.pid).not.toBe(one.pid)
    expect((await json('down', '--all')).instances.map(({ how }: { how: string }) => how)).toEqual([
      'graceful',
      'graceful',
    ])
    expect([isAlive(one.pid), isAlive(two.pid)]).toEqual([false, false])
  })
})

it('bare souk in a pipe prints the status', async () => {
  expect((await souk()).out).toContain('○ stopped')
})

describe('after a kill -9', () => {
  it('the registration is known to be stale, and up recovers', async () => {
    const { pid } = await json('up', '--port', '0')
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid))
    expect(await json('status')).toMatchObject({ state: 'crashed', pid, next: 'souk restart' })
    const failed = await souk('health')
    expect(failed.code).toBe(10)
    expect(failed.err).toContain('it crashed or was killed')
    expect(failed.err).toContain('→ souk restart')
    expect(await json('up', '--port', '0')).toMatchObject({ already_running: false, recovered: true })
  })

  it('a pid that was given to another process is not taken for the daemon', async () => {
    await json('up', '--port', '0')
    const real = registration()
    const startedMs = processStartedMs(process.pid) ?? 0
    const stolen = { ...real, pid: process.pid, started_at: new Date(startedMs - 60_000).toISOString() }
    await writeFile(join(runtime(), 'daemon.json'), JSON.stringify(stolen))
    expect(await json('status')).toMatchObject({ state: 'crashed' })
    await souk('down')
    expect(isAlive(process.pid)).toBe(true)
    process.kill(real.pid, 'SIGKILL')
  })

  it('a living process whose address belongs to somebody else is unresponsive', async () => {
    await json('up', '--port', '0')
    const real = registration()
    const port = await listen('{"instance_id":"another"}')
    await writeFile(join(runtime(), 'daemon.json'), JSON.stringify({ ...real, url: `http://127.0.0.1:${port}` }))
    expect(await json('status')).toMatchObject({ state: 'unresponsive', next: 'souk restart' })
    const { code, err } = await souk('up')
    expect([code, err.includes(`pid ${real.pid}`)]).toEqual([1, true])
    expect(await json('down')).toMatchObject({ instances: [{ how: 'graceful', port_free: false }] })
  })
})

describe('following the log', () => {
  it('goes on across a restart and ends by ctrl-c with 130', async () => {
    await json('up', '--port', '0')
    const { child, ended, out } = started('logs', '-f', '--tail', '0', '--ndjson')
    // Each look at the daemon logs a line; the first that shows says that the follower is there.
    while (out() === '') await json('status')
    await json('restart')
    const before = out().length
    await json('status')
    await until(() => out().length > before)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    for (const line of out().trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ source: 'http' })
  })
})

describe('a dry run', () => {
  it.each([['up'], ['restart'], ['wallet', 'new'], ['tour'], ['remote', 'add', 'shop', 'https://market.example']])(
    'of %s changes nothing and says what it would do',
    async (...words) => {
      const { code, out } = await souk(...words, '--dry-run', '--json')
      expect([code, JSON.parse(out)]).toEqual([0, { dry_run: true, act: expect.any(String) }])
      expect(readdirSync(home, { recursive: true }).filter((name) => String(name).endsWith('.json'))).toEqual([])
    },
  )
})

describe.skipIf(process.platform !== 'linux')('a daemon in the foreground, started by an older Node', () => {
  beforeAll(() => symlinkSync(join(import.meta.dirname, '../../node_modules'), join(bundle, 'node_modules')))

  it('stops when only the process that was started gets SIGINT', async () => {
    const { child, ended } = launchedInForeground()
    await until(isServing)
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  it('takes one ctrl-c, which reaches both processes, as one', async () => {
    writeFileSync(join(home, 'trouble'), 'stuck')
    const { child, ended, out } = launchedInForeground()
    await until(isServing)
    process.kill(-(child.pid ?? 0), 'SIGINT')
    await until(() => ['stopping', 'forwarded'].every((word) => out().includes(word)))
    // It is still stopping: the second signal has not ended it.
    for (const path of ['/one', '/two']) expect((await fetch(registration().url + path)).ok).toBe(true)
    // Signals that wait at the same time are one, or overtake each other.
    const more = setInterval(() => child.kill('SIGTERM'), 100)
    expect([130, 143]).toContain(await ended)
    clearInterval(more)
  })
})

describe('trouble', () => {
  const has = (trouble: string) => writeFileSync(join(home, 'trouble'), trouble)

  it('names the stranger on the port and the way out', async () => {
    const port = await listen('hello')
    const { code, err } = await souk('up', '--port', String(port))
    expect(code).toBe(1)
    expect(err).toContain(`Port ${port} is used by another program`)
    expect(err).toContain(`(pid ${process.pid}, started `)
    expect(err).toContain('→ souk up --port 0')
    expect((await souk('status')).out).toContain('stopped')
  })

  it('repeats what the daemon said when it cannot start', async () => {
    has('broken')
    const { code, err } = await souk('up', '--port', '0')
    expect([code, err.includes('the seed is broken')]).toEqual([1, true])
    has('silent')
    expect((await souk('up', '--port', '0')).err).toContain('exited before it was ready (3)')
  })

  it('kills what does not end in its grace', async () => {
    has('stuck')
    const { pid } = await json('up', '--port', '0')
    expect(await json('down', '--grace', '300ms')).toMatchObject({ instances: [{ how: 'killed', port_free: true }] })
    expect(isAlive(pid)).toBe(false)
  })

  it('ends at once on a second signal', async () => {
    has('stuck')
    const { child, ended, out } = inForeground()
    await until(isServing)
    child.kill('SIGTERM')
    await until(() => out().includes('stopping'))
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
  })

  it('in the foreground logs to stdout and tidies up on ctrl-c', async () => {
    const { child, ended, out } = inForeground('--json')
    await until(isServing)
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(existsSync(join(runtime(), 'daemon.json'))).toBe(false)
    const lines = out()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({ state: 'stopped' })
    for (const record of lines.slice(0, -1)) expect(record).toMatchObject({ level: 'info', source: 'http' })
  })
})
