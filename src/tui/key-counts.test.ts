import { afterEach, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { DAY_MS, HOUR_MS } from '../core/time.ts'
import { type FakeLink, NOW, type Opened, openOn } from './cockpit.testkit.tsx'
import { market, pausedHealth } from './fixtures.testkit.ts'
import { job, jobId, jobsOf } from './jobs/jobs.testkit.ts'

/* The most frequent jobs of an administrator, each in as few keys as promised. Typed reasons and pasted ids are no keys. */

const ADMIN = '/dashboard/api/admin'
const ENTER = '\r'

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

/** A cockpit on its first screen that counts what is pressed. */
async function admin(link: FakeLink) {
  const opened = await openOn({ link, columns: 120, rows: 40 })
  open = opened
  await opened.advance(1_000)
  let keys = 0
  return {
    ...opened,
    keys: () => keys,
    /** Presses a key and waits for what it shows, since dialogs are loaded when they are first needed. */
    async press(key: string, shown = '') {
      keys += 1
      await opened.type(key)
      await opened.advance(1_000)
      await opened.until(() => opened.text().includes(shown))
    },
    say: (text: string) => opened.type(text),
    paste: (text: string) => opened.type(`\u001B[200~${text}\u001B[201~`),
    sent: () => link.calls.filter(({ method }) => method !== 'GET').map(({ path, body }) => ({ path, body })),
  }
}

const oneItem = (kind: 'dispute' | 'delivery', subject: string) => {
  const { counts, items } = examples.getAttention.answer
  const none = Object.fromEntries(Object.keys(counts).map((name) => [name, 0]))
  const item = {
    ...items[0],
    id: `${kind} ${subject}`,
    kind,
    subject: { kind, id: subject },
    who: 'Lingua',
    amount: null,
    since: new Date(NOW).toISOString(),
    due: null,
    sentence: 'It needs the operator.',
    fix: 'souk attention',
  }
  return { items: [item], counts: { ...none, [kind]: 1 }, total: 1 }
}

it('rules on a dispute from the overview in 4 keys and a reason', async () => {
  const one = job(1, 'disputed')
  const link = market({
    [`GET ${ADMIN}/attention`]: oneItem('dispute', one.id),
    [`GET ${ADMIN}/jobs/${one.id}/bundle`]: { ...examples.getJobBundle.answer, job: one },
    [`POST ${ADMIN}/jobs/${one.id}/resolve`]: { ...one, status: 'refunded' },
  })
  const { press, say, sent, keys } = await admin(link)
  await press('D', 'DECIDE A DISPUTE')
  await press('1')
  await say('half is missing')
  await press(ENTER)
  await press('y')
  expect(sent()).toEqual([
    { path: `${ADMIN}/jobs/${one.id}/resolve`, body: { outcome: 'refund', reason: 'half is missing' } },
  ])
  expect(keys()).toBeLessThanOrEqual(4)
})

it('finds a pasted id in 2 keys', async () => {
  const link = market({ [`GET ${ADMIN}/jobs`]: jobsOf([job(1, 'released'), job(2, 'dispatched')]) })
  const { press, paste, keys, text, host, advance } = await admin(link)
  await press(':')
  await paste(jobId(1))
  await press(ENTER)
  await advance(1_000)
  expect(host.face.current.ids).toEqual([jobId(1)])
  expect(text()).toContain(`─ ${jobId(1)} ─`)
  expect(keys()).toBeLessThanOrEqual(2)
})

it('sends a dead delivery again in 3 keys', async () => {
  const id = examples.getWebhooks.answer.deliveries[0]?.id ?? ''
  const link = market({
    [`GET ${ADMIN}/attention`]: oneItem('delivery', id),
    [`POST ${ADMIN}/webhooks/${id}/replay`]: examples.replayForOperator.answer,
  })
  const { press, sent, keys } = await admin(link)
  await press(ENTER, 'Cancel  esc')
  await press('y')
  expect(sent().map(({ path }) => path)).toEqual([`${ADMIN}/webhooks/${id}/replay`])
  expect(keys()).toBeLessThanOrEqual(3)
})

it('suspends somebody by a pasted id in 5 keys and a reason', async () => {
  const [person] = examples.listParticipants.answer.participants
  if (person === undefined) throw new Error('the example has no participant')
  const path = `${ADMIN}/participants/${person.id}`
  const link = market({
    [`GET ${ADMIN}/participants`]: examples.listParticipants.answer,
    [`PUT ${path}`]: { ...examples.setParticipant.answer, suspended_at: new Date(NOW).toISOString() },
  })
  const { press, say, paste, sent, keys } = await admin(link)
  await press(':')
  await paste(person.id)
  await press(ENTER, 'set the tier')
  await press('Z', 'Cancel  esc')
  await say('sells stolen goods')
  await press(ENTER)
  await press('y')
  expect(sent()).toEqual([{ path, body: { suspended: person.suspended_at === null, reason: 'sells stolen goods' } }])
  expect(keys()).toBeLessThanOrEqual(5)
})

it('pauses all payments in 3 keys and a reason', async () => {
  const link = market({ [`POST ${ADMIN}/platform/pause`]: { paused: true, changed: true } })
  const { press, say, sent, keys, rows } = await admin(link)
  await press('P')
  await say('chain RPC is down')
  await press(ENTER)
  link.answers['GET /health'] = pausedHealth
  await press('y')
  expect(sent()).toEqual([{ path: `${ADMIN}/platform/pause`, body: { reason: 'chain RPC is down' } }])
  expect(rows()[0]).toContain('‖ paused')
  expect(keys()).toBeLessThanOrEqual(3)
})

it('compares with last week in 0 keys', async () => {
  const link = market()
  const change = { calls: 18, purchases: 18, paid_in: 18 }
  const hours = [0, 1].map((i) => new Date(NOW - 7 * DAY_MS - (1 - i) * HOUR_MS).toISOString())
  const buckets = hours.map((at) => ({ at, calls: 600, p95_ms: 20, purchases: 40, paid_in: '80.00' }))
  const series = 'GET /dashboard/api/admin/series'
  link.answers[series] = { ...(link.answers[series] as object), week_ago: { buckets, change } }
  const { text, keys } = await admin(link)
  expect(text()).toContain('+18 % on last Sat')
  expect(keys()).toBe(0)
})
