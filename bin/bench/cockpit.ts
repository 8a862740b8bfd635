import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { figure, type Measured, median } from './report.ts'
import { type StubMarket, stubMarket } from './stub-market.ts'

const souk = fileURLToPath(new URL('../../dist/souk.js', import.meta.url))
const TERMINAL = 'stty cols 160 rows 50'
const TICK_MS = 10
const START_LIMIT_MS = 30_000
const SETTLE_MS = 3_000
const WATCH_MS = 10_000
const STEPS = 150
const STEP_GAP_MS = 40
const EVENTS_A_SECOND = 50
const POLL_MS = 1

/** Processor time of the open cockpit, at 160 columns and 50 rows, against a marketplace of 100,000 jobs. */
export async function cockpit(): Promise<readonly Measured[]> {
  if (!existsSync(souk)) throw new Error('there is no dist/souk.js: npm run build')
  const home = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const market = await stubMarket()
  try {
    await addRemote(home, market.url)
    return [
      ...(await withCockpit({ home, screen: 'jobs' }, listFigures)),
      ...(await withCockpit({ home, screen: 'overview' }, (one) => watchFigures(one, market))),
      ...(await withCockpit({ home, screen: 'overview' }, (one) => memoryFigures(one, market))),
    ]
  } finally {
    market.close()
    await rm(home, { recursive: true, force: true })
  }
}

async function addRemote(home: string, url: string): Promise<void> {
  const words = ['remote', 'add', 'bench', url, '--admin-key-stdin']
  const env = { PATH: process.env.PATH, HOME: home }
  const child = spawn(process.execPath, [souk, ...words], { env, stdio: ['pipe', 'ignore', 'inherit'] })
  child.stdin.end(`adm_${'0'.repeat(40)}\n`)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error(`souk remote add ended with ${code}`)
}

type Open = {
  readonly pid: number
  /** User and system time so far, milliseconds. */
  readonly cpuMs: () => number
  readonly type: (text: string) => void
  /** Waits until it has written a text. @returns when, `performance.now()`. */
  readonly seen: (text: string) => Promise<number>
}

type Opening = { readonly home: string; readonly screen: string }

/** Opens the built cockpit on a terminal of its own, for as long as it is used. */
async function withCockpit<T>({ home, screen }: Opening, use: (open: Open) => Promise<T>): Promise<T> {
  const pidFile = join(home, 'pid')
  const run = `${TERMINAL}; echo $$ > ${pidFile}; exec ${process.execPath} ${souk} -r bench tui ${screen}`
  const child = spawn('bash', ['-c', 'exec script -qec "$1" /dev/null', 'bash', run], {
    env: { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  const seen = async (text: string) => {
    const started = performance.now()
    while (!written.includes(text)) {
      if (performance.now() - started > START_LIMIT_MS) throw new Error(`the cockpit never showed ${text}`)
      await pause(POLL_MS)
    }
    return performance.now()
  }
  try {
    await seen('quit')
    await pause(SETTLE_MS)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const type = (text: string) => void child.stdin.write(text)
    return await use({ pid, cpuMs: () => cpuMs(pid), type, seen })
  } finally {
    await end(child)
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin?.write('\u0003')
  const hard = setTimeout(() => child.kill('SIGKILL'), SETTLE_MS)
  await ended
  clearTimeout(hard)
}

/** Of another process, as the kernel counts it. */
function cpuMs(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = rest.split(' ').map(Number)
  const [user = 0, system = 0] = fields.slice(11, 13)
  return (user + system) * TICK_MS
}

async function used({ cpuMs: now }: Open, work: () => Promise<void>): Promise<{ cpu: number; wall: number }> {
  const [cpu, wall] = [now(), performance.now()]
  await work()
  return { cpu: now() - cpu, wall: performance.now() - wall }
}

/** What one step down costs beyond what the cockpit takes anyway. */
async function stepMs(open: Open): Promise<number> {
  const idle = await used(open, () => pause(STEPS * STEP_GAP_MS))
  const walked = await used(open, async () => {
    for (let step = 0; step < STEPS; step += 1) {
      open.type(step % 40 < 20 ? 'j' : 'k')
      await pause(STEP_GAP_MS)
    }
  })
  return Math.max(0, walked.cpu - (idle.cpu / idle.wall) * walked.wall) / STEPS
}

async function listFigures(open: Open): Promise<Measured[]> {
  open.type('v')
  await pause(SETTLE_MS)
  const rounds = [await stepMs(open), await stepMs(open), await stepMs(open)]
  return [{ name: '100,000 jobs: one row down, CPU', values: rounds, unit: 'ms', budget: { atMost: 3 } }]
}

const PERCENT = 100

async function share(open: Open): Promise<number> {
  const { cpu, wall } = await used(open, () => pause(WATCH_MS))
  return (cpu / wall) * PERCENT
}

async function watchFigures(open: Open, market: StubMarket): Promise<Measured[]> {
  market.events(EVENTS_A_SECOND)
  await pause(SETTLE_MS)
  const live = [await share(open), await share(open), await share(open)]
  market.events(0)
  open.type('z')
  await pause(SETTLE_MS)
  const held = [await share(open)]
  const events = `${figure(median(live) / EVENTS_A_SECOND)} % an event a second`
  return [
    { name: 'held still (live off), CPU', values: held, unit: '%', budget: { atMost: 1 } },
    { name: '50 events a second, CPU', values: live, unit: '%', budget: { atMost: 5 }, detail: events },
  ]
}

/** Events of a busy day, in bursts; every screen is looked at between them. */
const [BURST, DAY_BURSTS, WARM_BURSTS] = [500, 2_000, 200]
const SCREEN_KEYS = 9
const KB_PER_MB = 1_024

/** Memory after a million events, against that after the first tenth of them with all screens loaded. */
async function memoryFigures({ pid, type }: Open, market: StubMarket): Promise<Measured[]> {
  const memory: number[] = []
  for (let burst = 1; burst <= DAY_BURSTS; burst += 1) {
    await market.burst(BURST)
    await pause(STEP_GAP_MS)
    if (burst % SCREEN_KEYS === 0) type(String((burst / SCREEN_KEYS) % SCREEN_KEYS || SCREEN_KEYS))
    if (burst % WARM_BURSTS === 0) memory.push(residentMb(pid))
  }
  const [warm = Number.NaN, last = Number.NaN] = [memory[0], memory.at(-1)]
  const name = 'memory after 1,000,000 events on all screens / after the first 100,000'
  return [{ name, values: [last / warm], budget: { atMost: 1.2 }, detail: `${figure(warm)} and ${figure(last)} MB` }]
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / KB_PER_MB
}
