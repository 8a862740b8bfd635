import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, seeFrame, type Terminal, tmuxVersion } from './tmux.testkit.ts'

// @slow a cockpit in a real terminal
// @story one cockpit in one terminal, which changes its size

/* What people stumbled over, each at the size of their terminal. */

const exec = promisify(execFile)
const tmux = await tmuxVersion()

let home: string
let env: Record<string, string>
let terminal: Terminal
const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
const json = async (...words: string[]) => JSON.parse(await souk(...words, '--json'))

/** A job with a text of its buyer that a terminal would take apart. */
const FOREIGN = 'first line\nsecond line\r\nthird\u001B[2J'
let jobs: readonly string[]

const start = async (words: string, before = '') => {
  await terminal.line(`clear; ${before} ${process.execPath} ${PROGRAM} ${words}; echo "ended $?"`)
  await terminal.see('q quit')
}
const size = async (columns: number, rows: number) => {
  await terminal.resize(columns, rows)
  await expect.poll(async () => (await terminal.rows()).length).toBe(rows)
}
const chosen = async () => (await terminal.rows()).find((row) => row.startsWith('▌')) ?? ''
/** How often the record of a conversation says that the operator has read it. */
const reads = async (id: string) => {
  const { acts } = await json('admin', 'log', '--limit', '100')
  return acts.filter(
    (one: { act: string; subject: { id: string } }) => /\.read$/.test(one.act) && one.subject.id === id,
  ).length
}

beforeAll(async () => {
  if (tmux === undefined) return
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-faults-'))
  env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true' }
  await souk('up', '--port', '0', '--seed', 'house')
  const { made } = await json('trigger', 'job.disputed', '--set', `reason=${FOREIGN}`, '--repeat', '2')
  jobs = made.map(({ subject }: { subject: { id: string } }) => subject.id)
  await souk('trigger', 'thread.inquiry', '--set', `text=${FOREIGN}`)
  terminal = await openTerminal({ columns: 80, rows: 24, folder: home, env })
  await start('tui jobs')
})
afterAll(async () => {
  if (tmux === undefined) return
  await terminal?.close()
  await souk('down', '--force')
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

describe.skipIf(tmux === undefined)('in a terminal', () => {
  it('of 80 x 24 a paste goes where the cursor is, and a line is edited as in a shell', async () => {
    await terminal.type('/statusdisputed')
    await terminal.press(...Array.from('disputed', () => 'Left'))
    await terminal.paste(':')
    await terminal.see('/status:▏disputed')
    await terminal.press('C-a')
    await terminal.type('!')
    await terminal.see('/!▏status:disputed')
    await terminal.press('C-_')
    await terminal.see('/status:disputed▏')
    await terminal.type(' age:>1h')
    await terminal.press('C-w')
    await terminal.see('/status:disputed ▏')
    await terminal.press('Home', 'Right', 'C-e', 'C-u')
    await terminal.see('/▏')
    await terminal.press('Escape')
    await terminal.type('P')
    await terminal.type('closed')
    await terminal.press('Home')
    await terminal.paste('the bank\nis ')
    await terminal.see('the bank is▏closed')
    await terminal.press('C-k')
    await terminal.miss('closed')
    await terminal.press('C-_')
    await terminal.see("--reason 'the bank isclosed'")
  })

  it('below 60 x 18 nothing acts, and the open dialog is held until there is room again', async () => {
    await terminal.press('Enter')
    await terminal.see('[>Cancel  esc ]')
    await size(59, 17)
    await terminal.see('enlarge to 60x18')
    await terminal.press('Tab', 'Enter')
    await terminal.type('y9?:')
    await terminal.paste('up')
    await size(60, 18)
    await terminal.see('PAUSE THE PLATFORM')
    await terminal.see('[>Cancel  esc ]')
    await terminal.press('Escape')
    await terminal.miss('PAUSE THE PLATFORM')
    await seeFrame(terminal, '[open', 18)
    expect(await json('health')).toMatchObject({ paused: false })
  })

  it('copied rows and text of strangers keep the frame of 60 x 18 whole', async () => {
    await terminal.type('*y')
    await terminal.see(/copied/i)
    await seeFrame(terminal, '[open', 18)
    for (const row of await terminal.rows()) expect(row).not.toMatch(/^job_/)
    await terminal.press('Escape')
    await terminal.press('Escape')
    for (const [columns, rows] of [
      [100, 30],
      [160, 50],
    ] as const) {
      await size(columns, rows)
      for (const [key, sign] of [
        ['4', '─ Threads '],
        ['3', '─ Jobs '],
      ] as const) {
        await terminal.type(key)
        await terminal.see(sign)
        await seeFrame(terminal, 'first line', rows)
      }
    }
  })

  it('of 160 x 50 what is opened is logged once a sitting, and what the cursor rests on is not', async () => {
    await terminal.type('4')
    const id = /─ (thr_[0-9a-f]{16}) ─/.exec((await terminal.see(/─ thr_[0-9a-f]{16} ─/)).join('\n'))?.[1] ?? ''
    await terminal.see('first line')
    for (const key of ['j', 'g', '3', '4', 'z', 'z']) await terminal.type(key)
    await terminal.see(`─ ${id} ─`)
    expect(await reads(id)).toBe(0)
    for (let times = 0; times < 2; times += 1) {
      await terminal.press('Enter')
      await terminal.see(`Threads → ${id}`)
      await terminal.press('C-r', 'Escape')
      await terminal.see(`─ ${id} ─`)
    }
    await expect.poll(() => reads(id)).toBe(1)
  })

  it('of 100 x 30 the cursor stays on its row while the list moves', async () => {
    await size(100, 30)
    await terminal.type('3')
    await terminal.type('G')
    const row = await chosen()
    const { total } = await json('admin', 'jobs', 'list', '--filter', 'open:yes')
    await souk('trigger', 'job.dispatched')
    await terminal.see(new RegExp(`open ${total + 1}\\b`))
    expect((await chosen()).slice(0, 40)).toBe(row.slice(0, 40))
  })

  it('of 80 x 24 the cursor goes through all rows, and the number of all is shown', async () => {
    await size(80, 24)
    await terminal.type('2')
    const { total } = await json('services', 'list')
    await terminal.see(`of ${total}`)
    // Health checks and deliveries move rows meanwhile.
    await terminal.type('z')
    await terminal.type('G')
    await terminal.see(new RegExp(`${total} of ${total}|to ${total} of`))
    const last = await chosen()
    await terminal.type('g')
    await terminal.press(...Array.from({ length: total - 1 }, () => 'Down'))
    await terminal.see(new RegExp(`^${last.slice(0, 30).replaceAll(/[^\w ▌]/g, '.')}`, 'm'))
    await terminal.type('g')
    await terminal.press(...Array.from({ length: Math.ceil(total / 10) + 1 }, () => 'PageDown'))
    await terminal.see(new RegExp(`^${last.slice(0, 30).replaceAll(/[^\w ▌]/g, '.')}`, 'm'))
    await terminal.type('z')
  })

  it('of 100 x 30 a question stands beside the row that it is about', async () => {
    await size(100, 30)
    await terminal.type('3g')
    await terminal.see(/^▌ \?/m)
    const row = await chosen()
    await terminal.type('W')
    await terminal.see('Cancel  esc')
    expect((await chosen()).slice(0, 12)).toBe(row.slice(0, 12))
    await terminal.press('Escape')
    await terminal.miss('Cancel  esc')
  })

  it('of 100 x 30 what is typed behind : opens as a screen or a pane, and an id is an offer', async () => {
    await terminal.type(':')
    await terminal.paste(jobs[0] ?? '')
    await terminal.see('go to it in Jobs')
    await terminal.press('Enter')
    await terminal.see(`/id:${jobs[0]}`)
    await terminal.type(':doctor --only disk')
    await terminal.press('Enter')
    await terminal.see(/souk doctor --only disk[\s\S]*disk/)
    await terminal.press('Escape')
    await terminal.type(':admin subs list --filter "status:past_due"')
    await terminal.press('Enter')
    await terminal.see(/\[subscriptions[\s\S]*\/status:past_due/)
    await terminal.press('Escape')
  })

  it('of 100 x 30 filters take the words of the column, name the view that has it, and last', async () => {
    await terminal.type('3')
    await terminal.press('Escape')
    await terminal.type('/status:"disputed"')
    await terminal.press('Enter')
    await terminal.see('─ 2 of 2 ')
    await terminal.type('vv/')
    await terminal.press('C-u')
    await terminal.type(`${jobs[0]}`)
    await terminal.press('Enter')
    await terminal.see(/no such job in late, but .*1 in disputed/)
    await terminal.type('q')
    await terminal.see('ended 0')
    await start('tui jobs')
    await terminal.see(`/${jobs[0]}`)
    await terminal.press('Escape')
    await terminal.type('q')
    await terminal.see('ended 0')
  })

  it('of 60 x 18 without colors bold and reverse stay, and signs are ASCII where that is wanted', async () => {
    await size(60, 18)
    await start('tui --ascii', 'env NO_COLOR=1')
    await terminal.see('* trading')
    const colored = await terminal.colored()
    expect(colored).toContain('\u001B[1m')
    expect(colored).toContain('\u001B[7m')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colors are what is looked for
    expect(colored).not.toMatch(/\u001B\[(?:\d+;)*(?:[349]\d|10\d)\b/)
    await terminal.type(':')
    await terminal.see('Go or do')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: anything but ASCII is what is looked for
    expect((await terminal.rows()).join('\n')).not.toMatch(/[^\u0000-\u007F]/)
    await terminal.press('Escape')
    await terminal.type('q')
    await terminal.see('ended 0')
  })
})
