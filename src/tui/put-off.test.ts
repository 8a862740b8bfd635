import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { putOffFile } from '../cli/files/cockpit-style.ts'
import { type FakeLink, NOW, type Opened, openOn } from './cockpit.testkit.tsx'
import { health, market } from './fixtures.testkit.ts'

/* What is put off is out of sight for as long as was said, in every count of this cockpit, and the next one knows of it. */

const HOUR_MS = 3_600_000
const ATTENTION = 'GET /dashboard/api/admin/attention'

let state: string
let open: Opened | undefined
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'souk-put-off-'))
})
afterEach(() => {
  open?.close()
  open = undefined
  rmSync(state, { recursive: true })
})

const item = (name: string, sentence = `The last run of ${name} failed.`) => ({
  ...examples.getAttention.answer.items[0],
  id: `cron ${name}`,
  kind: 'cron',
  grave: false,
  subject: { kind: 'cron', id: name },
  who: null,
  amount: null,
  since: new Date(NOW - HOUR_MS).toISOString(),
  due: null,
  sentence,
  fix: `souk crons run ${name}`,
})

function inbox(...items: readonly ReturnType<typeof item>[]) {
  const { counts } = examples.getAttention.answer
  const none = Object.fromEntries(Object.keys(counts).map((kind) => [kind, 0]))
  return { items, counts: { ...none, cron: items.length }, total: items.length }
}

const two = () => market({ [ATTENTION]: inbox(item('reputation'), item('auto-refund')) })

async function cockpit(link: FakeLink, now = NOW): Promise<Opened> {
  open?.close()
  open = await openOn({ link, columns: 100, rows: 30, now, putOffFile: putOffFile({ state }) })
  await open.advance(1_000)
  return open
}

/** Down to the third of the choices. */
const DOWN = '\u001B[B'

it('hides the chosen one for an hour, and counts it nowhere', async () => {
  const { type, text } = await cockpit(two())
  expect(text()).toContain('2 problems')
  await type('x')
  expect(text()).toMatch(/╭─ Snooze ─+╮/)
  expect(text()).toMatch(/for 1 hour.*\n.*for 1 day.*\n.*until it changes/)
  await type('\r')
  expect(text()).toMatch(/─ Open problems 1 ─+ 1 snoozed {2}enter run now {2}x snooze ─/)
  expect(text()).toContain('! 1 problem')
  expect(text()).toContain('Crons!1')
  expect(text()).not.toMatch(/▌. cron +reputation/)
  expect((await cockpit(two(), NOW + HOUR_MS - 10_000)).text()).toContain('1 problem')
  await open?.advance(20_000)
  expect(open?.text()).toContain('2 problems')
})

it('that says something else is there again, where it was put off until it changes', async () => {
  const link = two()
  const { type } = await cockpit(link)
  await type('x')
  await type(`${DOWN}`)
  await type(`${DOWN}`)
  await type('\r')
  const { text, advance } = await cockpit(link, NOW + 48 * HOUR_MS)
  expect(text()).toContain('1 problem')
  link.answers[ATTENTION] = inbox(item('reputation', 'Its last run failed: the disk is full.'), item('auto-refund'))
  await advance(5_000)
  expect(text()).toContain('2 problems')
})

it('is known to the next cockpit of this machine, and to none of another instance', async () => {
  const { type } = await cockpit(two())
  await type('x\r')
  expect((await cockpit(two())).text()).toContain('1 problem')
  const other = two()
  other.answers['GET /health'] = { ...health, instance_id: 'inst_2' }
  expect((await cockpit(other)).text()).toContain('2 problems')
})

it('comes back at once when it is wanted, also from an inbox that is empty', async () => {
  const { type, text } = await cockpit(market({ [ATTENTION]: inbox(item('reputation')) }))
  await type('x\r')
  expect(text()).toMatch(/─ Open problems 0 ─+ 1 snoozed {2}x snooze ─/)
  await type('x')
  expect(text()).toContain('show the 1 snoozed')
  await type('\r')
  expect(text()).toMatch(/─ Open problems 1 ─/)
})

it('hides nothing by a file that holds anything else', async () => {
  writeFileSync(join(state, 'put-off.json'), '{"id": "cron reputation"}')
  expect((await cockpit(two())).text()).toContain('2 problems')
})
