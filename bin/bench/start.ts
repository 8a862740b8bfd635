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
const node = process.execPath
const TERMINAL = 'stty cols 100 rows 30'

type Case = 'bare' | 'version' | 'list' | 'cockpit' | 'terminal'
type Cases = Readonly<Record<Case, readonly string[]>>

/** Processor time of short commands of the built program against `node -e 0`. */
export async function start(): Promise<readonly Measured[]> {
  if (!existsSync(souk)) throw new Error('there is no dist/souk.js: npm run build')
  const home = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const daemon = await launch('serve-daemon.ts', { wallets: [] })
  try {
    return measure(home, {
      bare: [node, '-e', '0'],
      version: [node, souk, '--version'],
      list: [node, souk, 'services', 'list', '--base-url', daemon.ready.url],
      cockpit: [node, souk, 'tui', '--base-url', daemon.ready.url],
      terminal: ['true'],
    })
  } finally {
    await daemon.stop()
    await rm(home, { recursive: true, force: true })
  }
}

function measure(home: string, cases: Cases): Measured[] {
  const cpu: Record<Case, number[]> = { bare: [], version: [], list: [], cockpit: [], terminal: [] }
  for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
    for (const [name, words] of Object.entries(cases) as [Case, readonly string[]][]) {
      const ms = cpuMs({ words, home, inTerminal: name === 'cockpit' || name === 'terminal' })
      if (round >= 0) cpu[name].push(ms)
    }
  }
  // What the terminal itself takes is not the cockpit's.
  cpu.cockpit = cpu.cockpit.map((ms, round) => ms - (cpu.terminal[round] ?? 0))
  const against = (name: Case, what: string, atMost: number): Measured => ({
    name: `${what}, CPU / node -e 0`,
    values: ratios(cpu[name], cpu.bare),
    budget: { atMost },
    detail: `${figure(median(cpu[name]))} / ${figure(median(cpu.bare))} ms of user and system time`,
  })
  return [
    against('version', 'souk --version', 1.8),
    against('list', 'souk services list against a running daemon', 2.5),
    against('cockpit', 'souk tui up to its first frame, and out again', 8),
  ]
}

type Run = { readonly words: readonly string[]; readonly home: string; readonly inTerminal: boolean }

/**
 * User and system time of one run of Node, milliseconds. Node does not tell it of a child, and the shell does. In a
 * terminal the key that quits is typed ahead: it is read when the first frame stands.
 */
function cpuMs({ words, home, inTerminal }: Run): number {
  const run = inTerminal ? `printf q | script -qec "${TERMINAL}; exec $(printf '%q ' "$@")" /dev/null` : '"$@"'
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', `TIMEFORMAT="%3U %3S"; time ${run} >/dev/null`, 'bash', ...words],
    {
      env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, 'cache'), TERM: 'xterm-256color' },
      encoding: 'utf8',
      timeout: RUN_LIMIT_MS,
    },
  )
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`)
  const [user = Number.NaN, system = Number.NaN] = (stderr.trimEnd().split('\n').at(-1) ?? '').split(' ').map(Number)
  return (user + system) * MILLISECONDS_A_SECOND
}
