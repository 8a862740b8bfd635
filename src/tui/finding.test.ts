import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import * as lists from '../api/endpoint/list-fields.ts'
import { parseFilter, passesFilter } from '../core/filter.ts'
import { delivery } from '../nouns/deliveries.ts'
import { job as jobNoun } from '../nouns/jobs.ts'
import { payout } from '../nouns/money.ts'
import type { Noun } from '../nouns/noun.ts'
import { subscription } from '../nouns/subscriptions.ts'
import { thread } from '../nouns/threads.ts'
import { verification } from '../nouns/verifications.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { job, jobsOf } from './jobs/jobs.testkit.ts'
import { bindings } from './shell/bindings.ts'

const LIST = '/dashboard/api/admin/jobs'
const SETTLED_MS = 1_000

let open: Opened | undefined
afterEach(() => open?.close())

async function onJobs() {
  const all = [job(1, 'dispatched'), job(2, 'disputed'), job(3, 'released')]
  const link = market({ [`GET ${LIST}`]: jobsOf(all) })
  open = await openOn({ link, screen: 'jobs' })
  const asked = () => link.calls.findLast(({ path }) => path === LIST)?.query ?? {}
  return { ...open, asked }
}

describe('what is typed behind /', () => {
  it('is asked of the instance, for all pages, once nothing more is typed', async () => {
    const { type, advance, asked, rows } = await onJobs()
    await type('vvvvv/status:disputed !logo')
    expect(asked().filter).toBeUndefined()
    await advance(SETTLED_MS)
    expect(asked()).toMatchObject({ filter: 'status:disputed !logo', offset: '0' })
    expect(rows()[3]).toMatch(/\[all\] {3}\/status:disputed !logo▏/)
    expect(rows()[2]).toContain(' 1 of 1 ')
    await type('\u001B')
    await open?.until(() => !rows()[3]?.includes('status:disputed'))
    await advance(SETTLED_MS)
    expect(rows()[2]).toContain(' 3 of 3 ')
  })

  it('takes what is pasted where the cursor is, and nothing where there is none', async () => {
    const { type, advance, asked, rows } = await onJobs()
    await type('\u001B[200~status:disputed\u001B[201~')
    await type('vvvvv/status:')
    await type('\u001B[200~disputed\n !logo\u001B[201~')
    await advance(SETTLED_MS)
    expect(asked()).toMatchObject({ filter: 'status:disputed !logo' })
    expect(rows()[3]).toMatch(/\[all\] {3}\/status:disputed !logo▏/)
  })

  it('goes with the view: both narrow', async () => {
    const { type, advance, asked } = await onJobs()
    await type('/amount:>0.10\r')
    await advance(SETTLED_MS)
    expect(asked().filter).toBe('open:yes amount:>0.10')
  })

  it('that matches nothing in this view names the views that have it', async () => {
    const { type, advance, text } = await onJobs()
    await type('/paid\r')
    await advance(2 * SETTLED_MS)
    expect(text()).toContain(' no such job in open, but 1 in done, 1 in all: press v for another view')
    await type('vvv')
    await advance(SETTLED_MS)
    expect(text()).toContain('✓ paid')
    await type('/nobody-has-it\r')
    await advance(2 * SETTLED_MS)
    expect(text()).toContain(' no such job: esc clears the filter')
  })

  it('is told what is wrong with it at once, with the fields there are, and not sent', async () => {
    const { type, advance, asked, text } = await onJobs()
    await type('vvvvv/buyr:acme')
    expect(text()).toContain('! The filter has no field buyr: use id, status')
    await advance(SETTLED_MS)
    expect(asked().filter).toBeUndefined()
  })
})

/** Rows of the contract's examples with another state. */
const shownStates = [
  ['jobs', lists.jobFields, jobNoun, examples.listAllJobs.answer.jobs[0]],
  ['threads', lists.threadFields, thread, examples.listAllThreads.answer.threads[0]],
  ['subscriptions', lists.subscriptionFields, subscription, examples.listAllSubscriptions.answer.subscriptions[0]],
  ['verifications', lists.verificationFields, verification, examples.listVerifications.answer.attempts[0]],
  ['payouts', lists.payoutFields, payout, examples.getPayouts.answer.payouts[0]],
  ['deliveries', lists.deliveryFields, delivery, examples.getWebhooks.answer.deliveries[0]],
] as const

describe.each(shownStates)('a filter of %s', (...[, fields, known, row]) => {
  const noun: Noun<never> = known
  it.each(fields.status.choices)('finds %s by the word that the column shows, with and without its field', (status) => {
    const shown = noun.stateOf?.({ ...row, status, late: false, ended_at: '' } as never) ?? ''
    const word = (typeof shown === 'string' ? shown : shown.text).replace(/^\S /, '')
    const facts = { status }
    for (const typed of [`state:"${word}"`, `status:${word.replaceAll(' ', '-')}`, word]) {
      const parsed = parseFilter(typed, fields)
      expect([typed, parsed.ok && passesFilter(parsed.filter, facts, 0)]).toEqual([typed, true])
    }
  })
})

describe('a list', () => {
  it('is sorted by each of its fields by the instance, and the other way round', async () => {
    const { type, advance, asked, rows } = await onJobs()
    await type('ssr')
    await advance(SETTLED_MS)
    expect(asked().sort).toBe('-status')
    expect(rows()[3]).toContain('by status ↓')
    await type('r')
    await advance(SETTLED_MS)
    expect(asked().sort).toBe('status')
  })

  it('that comes whole is sorted here, by the same fields and words', async () => {
    open = await openOn({ link: market(), screen: 'crons' })
    const { type, rows, text } = open
    await type('s')
    const names = () =>
      rows()
        .slice(4)
        .flatMap((row) => /^[▌ ] [^ ] \S.*? {2,}([a-z][a-z-]+) {2}/.exec(row)?.[1] ?? [])
    expect(text()).toContain('by name ↑')
    expect(names()).toEqual(names().toSorted())
    await type('r')
    expect(names()).toEqual(names().toSorted().toReversed())
    await type('/state:failing')
    expect(names()).toEqual(['provider-settlement'])
  })
})

describe.each(bindings.find(({ action }) => action === 'sort')?.on ?? [])('the list of %s', (screen) => {
  const onList = async () => {
    open = await openOn({ link: market(), screen, columns: 160, rows: 40 })
    await open.advance(SETTLED_MS)
    return open
  }

  it('is sorted, the other way round, and by nothing again', async () => {
    const { type, text, host } = await onList()
    await type('s')
    const [, first = ''] = /by (\S+) ↑/.exec(text()) ?? []
    expect(host.ui.get().sorts[screen]).toBe(first)
    await type('r')
    expect(text()).toContain(`by ${first} ↓`)
    for (let steps = 0; text().includes(' ↓') || text().includes(' ↑'); steps += 1) {
      expect(steps).toBeLessThan(20)
      await type('s')
    }
  })

  it('shows what is typed, and what is wrong with it', async () => {
    const { type, text } = await onList()
    await type('/colour:red')
    expect(text()).toContain('/colour:red▏')
    expect(text()).toContain('! The filter has no field colour: use ')
  })

  it('puts a column away and has it back', async () => {
    const { type, text, host, until } = await onList()
    const columns = host.face.current.list?.titles.slice(1) ?? []
    expect(columns.length).toBeGreaterThan(2)
    const isShown = (title: string) => new RegExp(`^  \\S.*  +${title}\\b`, 'm').test(text())
    const title = columns.find(isShown) ?? columns[0] ?? ''
    const wasShown = isShown(title)
    for (const away of [[title], []]) {
      await type(`w${title}`)
      await type(' ')
      expect(host.ui.get().putAway[screen]).toEqual(away)
      await type('\u001B')
      await until(() => host.ui.get().picker === undefined && text().includes(' 1 Overview'))
      await until(() => isShown(title) === (wasShown && away.length === 0))
    }
  })

  it('has its rows marked, and their ids are taken together', async () => {
    const { type, text, copied, host } = await onList()
    const { ids } = host.face.current
    if (ids.length === 0) return
    await type('*')
    expect(host.ui.get().marked[screen]).toEqual(ids)
    expect(text()).toMatch(/^.◆/m)
    await type('y')
    expect(copied.at(-1)).toBe(ids.join('\n'))
  })
})

describe('money', () => {
  it('is asked for by the fields of its view, and who is paid is a view', async () => {
    const link = market()
    open = await openOn({ link, screen: 'money', columns: 160, rows: 40 })
    const { type, advance, text } = open
    const last = (path: string) => link.calls.findLast((call) => call.path === `/dashboard/api/admin/${path}`)?.query
    await type('/amount:>1 !esc\r')
    await type('s')
    await advance(SETTLED_MS)
    expect(last('holds')).toMatchObject({ filter: 'amount:>1 !esc', sort: 'account' })
    await type('\u001B')
    await advance(SETTLED_MS)
    await type('v')
    expect(text()).not.toContain('by account')
    await type('/status:confirmed\r')
    await advance(SETTLED_MS)
    expect(last('payouts')).toMatchObject({ filter: 'status:confirmed' })
    await type('\u001B')
    await type('vv')
    await advance(SETTLED_MS)
    expect(text()).toContain('─ Payees ─')
    expect(text()).toMatch(/NAME +SOLD 7D +PAID +DUE +HELD/)
    expect(text()).toMatch(
      /Pixelforge +\$64\.30 +\$340\.90 +\$61\.20 +\$26\.25 .*in review, scheduled +is sent in 59m \d+s/,
    )
  })
})
