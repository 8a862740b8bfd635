import { afterEach, expect, it } from 'vitest'
import { splitWords } from '../cli/split-words.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import type { CommandLine } from './shell/screen.ts'

/* What a command prints is read in the cockpit, searched and saved; nothing that is shown moves the terminal's cursor. */

let open: Opened | undefined
afterEach(() => open?.close())

const JOB = 'job_00000000000000aa'
const saved: (readonly [name: string, text: string])[] = []
const ran: (readonly string[])[] = []

const commandLine: CommandLine = {
  commands: [
    { name: 'money statement', summary: 'a statement' },
    { name: 'wallet list', summary: 'the wallets of this machine' },
  ],
  split: splitWords,
  complete: async () => [],
  async run(words) {
    ran.push(words)
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`)
    return { ok: true, value: [...lines, `\u001B[2Jlast\tof ${JOB}`].join('\n') }
  },
}

async function cockpit(): Promise<Opened> {
  const save = (name: string, text: string) => {
    saved.push([name, text])
    return { ok: true, value: '/tmp/saved.txt' } as const
  }
  open = await openOn({ link: market(), columns: 80, rows: 24, readonly: true, commandLine, save })
  await open.advance(1_000)
  return open
}

it('shows what a read of the palette prints, without a question and also where nothing may be changed', async () => {
  const { type, text, until, rows, host } = await cockpit()
  await type(':wallet list')
  await type('\r')
  await until(() => text().includes('souk wallet list'))
  expect(ran.at(-1)).toEqual(['wallet', 'list', '--no-input'])
  expect(text()).toContain('line 0')
  await type('last')
  expect(text()).toContain(`last   of ${JOB}`)
  expect(text()).not.toContain('line 3')
  for (const row of rows()) expect(row).not.toMatch(/\p{Cc}/u)
  await type('\u0013')
  expect(saved.at(-1)?.[0]).toMatch(/^souk-output-\d+\.txt$/)
  expect(saved.at(-1)?.[1].split('\n')).toHaveLength(42)
  expect(text()).toContain('saved  /tmp/saved.txt')
  await type(':wallet list')
  await type('\r')
  await until(() => text().includes('line 0'))
  await type('last')
  await type('\r')
  expect([host.ui.get().screen, host.ui.get().filters.jobs]).toEqual(['jobs', `id:${JOB}`])
})

it('saves what a screen shows, with the rows below its window', async () => {
  const { type } = await cockpit()
  await type('5')
  await type('\u0013crons.txt')
  await type('\r')
  const [name, text] = saved.at(-1) ?? []
  expect(name).toBe('crons.txt')
  for (const cron of ['escrow-monitor', 'ofac-sdn-refresh', 'reputation']) expect(text).toContain(cron)
})

it('copies several ids without a line break in its message', async () => {
  const { type, rows, copied } = await cockpit()
  await type('5')
  await type('*')
  await type('y')
  expect(copied.at(-1)).toContain('\n')
  expect(rows()).toHaveLength(24)
  expect(rows().join('\n')).toMatch(/copied {2}\S+ {2}/)
})
