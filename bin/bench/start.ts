import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from './child.ts'
import { figure, type Measured, median, ratios } from './report.ts'

const ROUNDS = 15
const WARM_UPS = 2
const MILLISECONDS_A_SECOND = 1_000
const RUN_LIMIT_MS = 30_000
const souk = fileURLToPath(new URL('../../dist/souk.js', import.meta.url))

type Case = 'bare' | 'version' | 'list'

/** Processor time of short commands of the built program against `node -e 0`. */
export async function start(): Promise<readonly Measured[]> {
  if (!existsSync(souk)) throw new Error('there is no dist/souk.js: npm run build')
  const home = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const daemon = await launch('serve-daemon.ts', { wallets: [] })
  try {
    return measure(home, {
      bare: ['-e', '0'],
      version: [souk, '--version'],
      list: [souk, 'services', 'list', '--base-url', daemon.ready.url],
    })
  } finally {
    await daemon.stop()
    await rm(home, { recursive: true, force: true })
  }
}

function measure(home: string, cases: Readonly<Record<Case, readonly string[]>>): Measured[] {
  const cpu: Record<Case, number[]> = { bare: [], version: [], list: [] }
  for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
    for (const [name, words] of shuffled(Object.entries(cases) as [Case, readonly string[]][])) {
      const ms = cpuMs(words, home)
      if (round >= 0) cpu[name].push(ms)
    }
  }
  const detail = (name: Case) => `${figure(median(cpu[name]))} / ${figure(median(cpu.bare))} ms of user and system time`
  return [
    {
      name: 'souk --version, CPU / node -e 0',
      values: ratios(cpu.version, cpu.bare),
      budget: { atMost: 1.8 },
      detail: detail('version'),
    },
    {
      name: 'souk services list against a running daemon, CPU / node -e 0',
      values: ratios(cpu.list, cpu.bare),
      budget: { atMost: 2.5 },
      detail: detail('list'),
    },
  ]
}

/** User and system time of one run of Node, milliseconds. Node does not tell it of a child, and the shell does. */
function cpuMs(words: readonly string[], home: string): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null'
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...words], {
    env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, 'cache') },
    encoding: 'utf8',
    timeout: RUN_LIMIT_MS,
  })
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`)
  const [user = Number.NaN, system = Number.NaN] = (stderr.trimEnd().split('\n').at(-1) ?? '').split(' ').map(Number)
  return (user + system) * MILLISECONDS_A_SECOND
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
