import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { type Callable, readAnswer } from '../client/call.ts'
import { endpoints } from '../client/endpoints.ts'
import { localAdminKey } from '../client/secrets.ts'
import { widthOf } from '../text/text.ts'
import { shownMoney } from './parts/river.ts'
import { openTerminal, type Terminal, tmuxVersion } from './tmux.testkit.ts'

/*
 * The built program in real terminals against a marketplace with three months of trade and people who go on trading:
 * what each screen says is what the interface answers.
 */

const ENTRY = join(import.meta.dirname, '..', '..', 'dist', 'souk.js')
const tmux = await tmuxVersion()
const exec = promisify(execFile)
const SIZES = [
  [60, 18],
  [80, 24],
  [100, 30],
  [160, 50],
] as const
const TRIES = 60
const TRY_MS = 250
const START_LIMIT_MS = 120_000
const SIZE_LIMIT_MS = 120_000

let home: string
let env: Record<string, string>

const souk = async (...words: string[]) => (await exec(process.execPath, [ENTRY, ...words], { env })).stdout

/** What the interface answers now. */
async function ask<K extends Callable>(name: K, { query = '', id = '' } = {}): Promise<WireAnswer<Api[K]>> {
  const { url } = JSON.parse(await souk('status', '--json'))
  const key = localAdminKey(join(home, '.local/share/souk/default'))
  const path = endpoints[name][1].replace(':id', id)
  const answer = await fetch(`${url}${path}${query}`, { headers: { authorization: `Bearer ${key}` } })
  expect(answer.status).toBe(200)
  return readAnswer(name, await answer.json())
}
const FIRST = { query: '?limit=1' }

beforeAll(async () => {
  if (!existsSync(ENTRY)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-facts-'))
  env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true' }
  if (tmux === undefined) return
  await souk('seed', 'demo')
  await souk('up', '--port', '0')
  await souk('seed', 'traffic', '--rate', '120', '--for', '2s')
}, START_LIMIT_MS)

afterAll(async () => {
  await souk('down', '--force')
  await rm(home, { recursive: true, force: true })
})

/** What must stand on a screen, by what the interface says at that moment. */
type Says = () => Promise<readonly (string | RegExp)[]>

const places: Readonly<Record<string, Says>> = {
  '2': async () => [`of ${(await ask('getCatalog', FIRST)).total}`],
  '3': async () => {
    const { jobs } = await ask('listAllJobs', { query: '?status=disputed&limit=1' })
    return jobs.map(({ amount = '' }) => new RegExp(`\\? disputed .*\\$${amount.replace('.', '\\.')} `))
  },
  '4': async () => {
    const { total, threads } = await ask('listAllThreads', FIRST)
    return [`of ${total}`, threads[0]?.id ?? '']
  },
  '5': async () => {
    const { crons } = await ask('listCrons')
    return [`Crons ${crons.length}`, ...crons.slice(0, 1).map(({ name }) => name)]
  },
  '6': async () => {
    const { endpoints: doors } = await ask('getHealth')
    const live = doors.filter(({ status }) => status === 'live').length
    return [`${doors.length}`, new RegExp(`live ${live}\\b`)]
  },
  '7': async () => {
    const { books, agrees } = await ask('getRiver')
    const amountOf = (kind: string) => books.find((one) => one.kind === kind)?.amount ?? ''
    expect(agrees).toBe(true)
    return ['✓ agree to the cent', `${shownMoney(amountOf('esc'))} `, /= (?:what came in|in − out)/]
  },
  '8': async () => {
    const { total } = await ask('listVerifications', FIRST)
    const { sdn } = await ask('listSanctions', FIRST)
    return [`Identity checks ${total}`, `${sdn.total}, ${sdn.manual_only} of them by hand`]
  },
  '9': async () => ['level ≥ info'],
  '1': async () => {
    const { held, paid_in: paid, held_jobs: jobs } = await ask('getRiver')
    const { total } = await ask('getAttention')
    expect(jobs).toBeGreaterThan(0)
    return [`${shownMoney(held)} `, `${shownMoney(paid)} `, `${total} need`]
  },
}

/** On a small window not every open job is in sight, the disputed ones are; of conversations all are asked for. */
const viewsOf: Readonly<Record<string, string>> = { '3': '3vv', '4': '4vvv' }

/** The screen comes to say what the interface says: both go on meanwhile. */
async function agree(terminal: Terminal, says: Says): Promise<readonly string[]> {
  for (let tries = 1; ; tries += 1) {
    const wanted = await says()
    const rows = await terminal.rows()
    const text = rows.join('\n')
    const missing = wanted.filter((one) => (typeof one === 'string' ? !text.includes(one) : !one.test(text)))
    if (missing.length === 0) return rows
    if (tries === TRIES) throw new Error(`the screen does not say ${missing.join(', ')}:\n${text}`)
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
}

async function until(done: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !(await done()); tries += 1) {
    if (tries === TRIES) throw new Error('it did not come to that')
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
}

describe.skipIf(tmux === undefined)('in a terminal', () => {
  it.each(SIZES)(
    'of %i x %i every screen says what the interface answers, and acts reach it',
    async (columns, rows) => {
      const terminal = await openTerminal({ columns, rows, folder: home, env })
      try {
        await terminal.line(`${process.execPath} ${ENTRY} tui`)
        await terminal.see('Needs a hand')
        for (const [key, says] of Object.entries(places)) {
          await terminal.type(viewsOf[key] ?? key)
          const shown = await agree(terminal, says)
          expect(shown).toHaveLength(rows)
          for (const row of shown) expect(widthOf(row)).toBeLessThanOrEqual(columns)
        }
        await commands(terminal)
        await pauses(terminal)
        await runsCron(terminal)
        await writes(terminal, `is it ${columns} wide`)
      } finally {
        await terminal.close()
      }
    },
    SIZE_LIMIT_MS,
  )

  it(
    'a killed daemon is no longer trading, and up again it is',
    async () => {
      const terminal = await openTerminal({ columns: 160, rows: 50, folder: home, env })
      try {
        await terminal.line(`${process.execPath} ${ENTRY} tui`)
        await terminal.see('● trading')
        process.kill(JSON.parse(await souk('status', '--json')).pid, 'SIGKILL')
        await terminal.see('✗ daemon gone')
        await terminal.miss('● trading')
        await souk('up', '--port', '0')
        await terminal.see('● trading')
        await agree(terminal, places['1'] ?? (async () => []))
      } finally {
        await terminal.close()
      }
    },
    SIZE_LIMIT_MS,
  )
})

/** What is typed behind `:` is a command of the shell: a read leads to its screen, and a change is made after a question. */
async function commands(terminal: Terminal): Promise<void> {
  await terminal.type(':admin jobs list --filter status:released')
  await terminal.press('Enter')
  await agree(terminal, async () => {
    const { total } = await ask('listAllJobs', { query: '?filter=status:released&limit=1' })
    expect(total).toBeGreaterThan(0)
    return ['/status:released', new RegExp(`of ${total.toLocaleString('en')}\\b`)]
  })
  await terminal.press('Escape')
  const pausedAt = async () => (await ask('listCrons')).crons.find(({ name }) => name === 'reputation')?.paused
  for (const [act, isPaused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    await terminal.type(`:crons ${act} reputation`)
    await terminal.press('Enter')
    await terminal.see(`same as  souk crons ${act} reputation`)
    await terminal.type('y')
    await until(async () => (await pausedAt()) === isPaused)
    // What is typed before the answer is back goes to the dialog.
    await terminal.miss('same as ')
  }
}

async function pauses(terminal: Terminal): Promise<void> {
  await terminal.type('1')
  await terminal.type('P')
  await terminal.see('needs a reason')
  await terminal.type('chain RPC is down')
  await terminal.press('Enter')
  await terminal.see('[>Cancel')
  await terminal.type('y')
  await terminal.see('‖ paused')
  expect(await ask('getHealth')).toMatchObject({ paused: true })
  await terminal.type('P')
  await terminal.see('chain RPC is down')
  await terminal.type('y')
  await terminal.see('● trading')
  expect(await ask('getHealth')).toMatchObject({ paused: false })
}

async function runsCron(terminal: Terminal): Promise<void> {
  await terminal.type('5')
  const chosen = (await terminal.see(/^▌ \S/m)).find((row) => row.startsWith('▌')) ?? ''
  const name = /^▌.*?([a-z]+(?:-[a-z]+)+|housekeeping|reputation|subscriptions)/.exec(chosen)?.[1] ?? ''
  const byAdmin = async () => {
    const { crons } = await ask('listCrons')
    const cron = crons.find((one) => one.name === name)
    return cron?.runs.filter(({ trigger }) => trigger === 'admin').length ?? 0
  }
  const before = await byAdmin()
  await terminal.type('R')
  await terminal.see(`souk crons run ${name}`)
  await terminal.type('y')
  await until(async () => (await byAdmin()) > before)
}

async function writes(terminal: Terminal, words: string): Promise<void> {
  await terminal.type('4')
  // The operator speaks for the house alone, whoever wrote last.
  await terminal.type('/provider:souk')
  await terminal.press('Enter')
  await agree(terminal, async () => {
    const { total, threads } = await ask('listAllThreads', { query: '?filter=provider:souk&limit=1' })
    expect(total).toBeGreaterThan(0)
    return [`of ${total}`, threads[0]?.id ?? '']
  })
  await terminal.type('i')
  const dialog = (await terminal.see('WRITE A MESSAGE')).join('\n')
  const id = /thr_[0-9a-f]{16}/.exec(dialog)?.[0] ?? ''
  await terminal.type(words)
  await terminal.press('Enter')
  await terminal.see('[>Cancel')
  await terminal.type('y')
  await until(async () => JSON.stringify(await ask('readAnyThread', { id })).includes(words))
}
