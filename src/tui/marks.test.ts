import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { job, jobId, jobsOf } from './jobs/jobs.testkit.ts'

const LIST = '/dashboard/api/admin/jobs'

let open: Opened | undefined
afterEach(() => open?.close())

async function disputes() {
  const all = [job(1, 'disputed'), job(2, 'disputed'), job(3, 'disputed'), job(4, 'dispatched')]
  const ruled = Object.fromEntries(
    all.map((one) => [`POST ${LIST}/${one.id}/resolve`, { ...one, status: 'refunded' as const }]),
  )
  const link = market({ [`GET ${LIST}`]: jobsOf(all), ...ruled })
  open = await openOn({ link, screen: 'jobs' })
  const sent = () => link.calls.flatMap(({ method, path }) => (method === 'POST' ? [path.split('/')[5]] : []))
  return { ...open, sent, link }
}

describe('marked rows', () => {
  it('are acted on together: one question with their count and sum, and a request for each', async () => {
    const { type, text, sent, copied } = await disputes()
    await type('vv')
    await type('  ')
    expect(text().match(/^.◆/gm)).toHaveLength(2)
    await type('D')
    expect(text()).toContain('DECIDE A DISPUTE × 2')
    expect(text()).toContain('2, $1.05 in all')
    await type('r\t\ttoo late\rc')
    expect(copied.at(-1)).toMatch(/^souk admin jobs resolve \S+ --outcome refund .* && souk admin jobs resolve /)
    expect(sent()).toEqual([])
    await type('y')
    expect(sent()).toEqual([jobId(1), jobId(2)])
    expect(text()).toContain('2 of 2 done')
  })

  it('are told apart where one of them failed', async () => {
    const { type, text, link, until } = await disputes()
    link.answers[`POST ${LIST}/${jobId(2)}/resolve`] = () => ({
      ok: false,
      problem: { kind: 'failed', sentence: 'It was decided meanwhile.', facts: [], next: [] },
    })
    await type('vv')
    await type('*D')
    await type('r\t\ttoo late\ry')
    await until(() => text().includes('2 of 3 done'))
    expect(text()).toContain('It was decided meanwhile.')
  })

  it('give their ids, are none after esc, and none of another kind is acted on', async () => {
    const { type, text, copied, until } = await disputes()
    await type('*y')
    expect(copied.at(-1)?.split('\n')).toHaveLength(4)
    await type('D')
    expect(text()).toContain('is dispatched: a ruling needs a dispute')
    await type('\u001B')
    await until(() => !text().includes('only disputes'))
    await type('\u001B')
    await until(() => !/^.◆/m.test(text()))
  })

  it('send the dead deliveries among them again, after one question', async () => {
    const WEBHOOKS = '/dashboard/api/admin/webhooks'
    const [one] = examples.getWebhooks.answer.deliveries
    const deliveries = ['dead', 'dead', 'delivered', 'pending', 'dead'].map((status, i) => {
      const id = `whd_${String(i + 1).padStart(16, '0')}`
      return { ...one, id, delivery_id: id, status }
    })
    const link = market({ [`GET ${WEBHOOKS}`]: { deliveries, total: deliveries.length, limit: 100, offset: 0 } })
    for (const { id } of deliveries) link.answers[`POST ${WEBHOOKS}/${id}/replay`] = { ...one, id, status: 'pending' }
    open = await openOn({ link, screen: 'logs', columns: 120, rows: 30 })
    const { type, text, until } = open
    const sent = () => link.calls.flatMap(({ method, path }) => (method === 'POST' ? [path.split('/').at(-2)] : []))
    await type('vvv')
    await until(() => text().includes('[webhooks'))
    for (const key of '    ') await type(key)
    await type('T')
    expect(text()).toContain('SEND A DELIVERY AGAIN × 2')
    expect(sent()).toEqual([])
    await type('y')
    await until(() => text().includes('2 of 2 done'))
    expect(sent()).toEqual(deliveries.slice(0, 2).map(({ id }) => id))
  })

  it('are sent again where none is dead but one was delivered, and else it is said why not', async () => {
    const WEBHOOKS = '/dashboard/api/admin/webhooks'
    const [one] = examples.getWebhooks.answer.deliveries
    const told = (status: string) => ({ deliveries: [{ ...one, status }], total: 1, limit: 100, offset: 0 })
    const link = market({ [`GET ${WEBHOOKS}`]: told('dropped') })
    open = await openOn({ link, screen: 'logs', columns: 120, rows: 30 })
    const { type, text, until, host } = open
    await type('vvv')
    await until(() => text().includes('dropped'))
    await type('T')
    expect(text()).toContain('✗ The selected delivery was dropped: its message is obsolete.')
    link.answers[`GET ${WEBHOOKS}`] = told('delivered')
    host.queries.refetch()
    await until(() => text().includes('✓ delivered'))
    await type('T')
    expect(text()).toContain('SEND A DELIVERY AGAIN')
  })
})
