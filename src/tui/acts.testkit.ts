import { expect } from 'vitest'
import { holdSays } from './facts.testkit.ts'
import { shownMoney } from './parts/river.ts'
import type { Terminal } from './tmux.testkit.ts'
import { agree, ask, both, list, PAGE, until, words } from './walk.testkit.ts'

/* What people do in a cockpit, and what the interface says then. */

/** What is typed before the answer is back goes to the dialog. */
async function gone(terminal: Terminal): Promise<void> {
  await terminal.miss('Cancel  esc')
  await terminal.miss('waiting for the answer')
}

/** What the screen of the money lacks of the books, and of what is held. */
export const moneyLacks = both(
  words(async () => {
    const { books, agrees } = await ask('getRiver')
    const amountOf = (kind: string) => books.find((one) => one.kind === kind)?.amount ?? ''
    expect(agrees).toBe(true)
    return ['✓ agree to the cent', `${shownMoney(amountOf('esc'))} `, /= (?:what came in|in − out)/]
  }),
  list(async () => (await ask('getHolds', { query: `${PAGE.query}&sort=soonest` })).holds.map(holdSays)),
)

/** From the line of the inbox to the ruling, and from there to the money that it moved. */
export async function decides(terminal: Terminal): Promise<void> {
  await terminal.type('1')
  await terminal.see('Open problems')
  await terminal.type('g')
  for (
    let rows = (await ask('getAttention')).items.length;
    !/^▌\?/m.test((await terminal.rows()).join('\n'));
    rows -= 1
  ) {
    if (rows === 0) throw new Error('no dispute stands in the inbox')
    const before = (await terminal.rows()).find((row) => row.startsWith('▌')) ?? ''
    await terminal.type('j')
    await terminal.miss(before)
  }
  await terminal.press('Enter')
  const id = /job_[0-9a-f]{16}/.exec((await terminal.see('DECIDE A DISPUTE')).join('\n'))?.[0] ?? ''
  const { holds } = await ask('getHolds', { query: `?filter=${id}` })
  expect(holds.map(({ account }) => account)).toEqual([`esc:${id}`])
  await terminal.type('2all there')
  await terminal.press('Enter')
  await terminal.see(`same as  souk admin jobs resolve ${id}`)
  await terminal.type('y')
  await terminal.see('Now released')
  // The next dispute follows.
  const { total } = await ask('listAllJobs', { query: '?filter=status:disputed&limit=1' })
  if (total > 0) {
    await terminal.see(new RegExp(`resolve (?!${id})job_`))
    await terminal.press('Escape')
  }
  await gone(terminal)
  expect((await ask('getJobBundle', { id })).job).toMatchObject({
    status: 'released',
    dispute: { resolution: 'release' },
  })
  expect((await ask('getHolds', { query: `?filter=${id}` })).holds).toEqual([])
  await terminal.press('Escape')
  await terminal.type('7')
  await agree(terminal, moneyLacks)
  await terminal.miss(`esc:${id}`)
}

/** What is typed behind `:` is a command of the shell: a read leads to its screen, and a change is made after a question. */
export async function commands(terminal: Terminal): Promise<void> {
  await terminal.type(':admin jobs list --filter status:released')
  await terminal.press('Enter')
  await agree(
    terminal,
    words(async () => {
      const { total } = await ask('listAllJobs', { query: '?filter=status:released&limit=1' })
      expect(total).toBeGreaterThan(0)
      return ['/status:released', new RegExp(`of ${total.toLocaleString('en')}\\b`)]
    }),
  )
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
    await gone(terminal)
  }
}

export async function pauses(terminal: Terminal): Promise<void> {
  await terminal.type('1')
  await terminal.see('Open problems')
  await terminal.type('P')
  await terminal.see('needs a reason')
  await terminal.type('chain RPC is down')
  await terminal.press('Enter')
  await terminal.see('[>Cancel')
  await terminal.type('y')
  await terminal.see('‖ paused')
  await gone(terminal)
  expect(await ask('getHealth')).toMatchObject({ paused: true })
  await terminal.type('P')
  await terminal.see('chain RPC is down')
  await terminal.type('y')
  await terminal.see('● trading')
  await gone(terminal)
  expect(await ask('getHealth')).toMatchObject({ paused: false })
}

export async function runsCron(terminal: Terminal): Promise<void> {
  await terminal.type('5')
  await terminal.see('─ Crons')
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
  await gone(terminal)
}

export async function writes(terminal: Terminal, message: string): Promise<void> {
  await terminal.type('4')
  // The operator speaks for the house alone, whoever wrote last.
  await terminal.type('/provider:souk')
  await terminal.press('Enter')
  await agree(
    terminal,
    words(async () => {
      const { total, threads } = await ask('listAllThreads', { query: '?filter=provider:souk&limit=1' })
      expect(total).toBeGreaterThan(0)
      return [`of ${total}`, threads[0]?.id ?? '']
    }),
  )
  await terminal.type('i')
  const dialog = (await terminal.see('WRITE A MESSAGE')).join('\n')
  const id = /thr_[0-9a-f]{16}/.exec(dialog)?.[0] ?? ''
  await terminal.type(message)
  await terminal.press('Enter')
  await terminal.see('[>Cancel')
  await terminal.type('y')
  await until(async () => JSON.stringify(await ask('readAnyThread', { id })).includes(message))
  await gone(terminal)
  await terminal.press('Escape')
}
