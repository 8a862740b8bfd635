import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

/* Somebody who asks for work and somebody who bids on it, at a real, detached daemon. */

let user: User
let home: string
let service: string

beforeAll(async () => {
  user = await openUserAtMarket({ SOUK_NO_INPUT: '1' })
  home = user.home
  for (const name of ['poster', 'worker']) await user.register(name, '20.00')
  const listing = ['name=Portrait', 'description=Drawn', 'price=1.00', 'fulfillment_type=human']
  service = (await json('services', 'create', ...listing.flatMap((one) => ['--set', one]), '--as', 'worker')).id
})

afterAll(() => user.close())

const souk = (...words: string[]) => user.souk(...words)
const json = (...words: string[]) => user.json(...words)

const ask = (...words: string[]) => json('requests', 'create', '--budget', '10', ...words, '--as', 'poster')
const offer = (id: string) =>
  json('requests', 'bid', id, '--service', service, '--price', '2', '--eta', '3', '--pitch', 'In ink', '--as', 'worker')

describe('a request', () => {
  it('goes from asking to a job, each side by its commands', async () => {
    const asked = await ask(
      '--title',
      'A cat',
      '--brief',
      'Sitting, please',
      '--min-budget',
      '1.5',
      '--category',
      'art',
    )
    const { posting_id: id } = asked
    expect(asked).toMatchObject({ brief: { text: 'Sitting, please' }, budget_min_usd: 1.5, category: 'art' })
    const { bid_id: bid } = await offer(id)
    expect(await json('requests', 'bids', id, '--as', 'poster')).toMatchObject({
      total: 1,
      bids: [{ bid_id: bid, price_usd: 2, agent_price_usd: 2.1, eta_hours: 3, pitch: 'In ink' }],
    })
    const tooDear = await souk('requests', 'award', id, bid, '--as', 'poster')
    expect([tooDear.code, tooDear.err]).toEqual([5, expect.stringContaining('above the limit of $1.00')])
    const awarded = await json('requests', 'award', id, bid, '--max-price', '3', '--as', 'poster')
    expect(awarded).toMatchObject({ posting_id: id, status: 'dispatched', payment: { method: 'x402', amount: '2.10' } })
    expect(await json('jobs', 'view', awarded.job_id, '--as', 'poster')).toMatchObject({ posting_id: id })
    expect((await json('requests', 'view', id)).status).toBe('awarded')
    expect((await souk('requests', 'cancel', id, '--yes', '--as', 'poster')).code).toBe(6)
    expect((await json('money', 'audit')).ok).toBe(true)
  })

  it('is taken back, and so is a bid', async () => {
    const { posting_id: id } = await ask('--title', 'A dog', '--brief', '{"breed":"any"}')
    const { bid_id: bid } = await offer(id)
    const withdrawn = await souk('requests', 'withdraw', id, bid, '--as', 'worker')
    expect([withdrawn.code, withdrawn.out]).toEqual([0, `✓ ${bid} withdrawn\n`])
    expect((await souk('requests', 'cancel', id, '--as', 'poster')).code).toBe(2)
    expect((await json('requests', 'cancel', id, '--yes', '--as', 'poster')).status).toBe('cancelled')
  })

  it('is briefed by a file or stdin, and says what it lacks', async () => {
    const file = join(home, 'brief.json')
    writeFileSync(file, JSON.stringify({ size: 'A4' }))
    expect((await ask('--title', 'A', '--brief-file', file)).brief).toEqual({ size: 'A4' })
    const words = ['requests', 'create', '--title', 'B', '--budget', '1', '--as', 'poster', '--json']
    const piped = await user.soukWith({ stdin: 'as text' }, ...words, '--brief-file', '-')
    expect(JSON.parse(piped.out).brief).toEqual({ text: 'as text' })
    for (const more of [[], ['--brief', 'x', '--brief-file', file], ['--brief-file', join(home, 'none')]]) {
      expect((await souk(...words, ...more)).code).toBe(2)
    }
    expect((await souk(...words, '--brief', 'x', '--deadline', 'tomorrow')).err).toContain('deadline')
  })
})

describe('the list', () => {
  const ids = async (...words: string[]): Promise<string[]> =>
    (await json('requests', 'list', ...words)).postings.map((one: { posting_id: string }) => one.posting_id)

  it('is filtered, paged, searched and gone on with', async () => {
    const first = (await ask('--title', 'Zebra one', '--brief', 'x', '--category', 'zoo')).posting_id
    const second = (await ask('--title', 'Zebra two', '--brief', 'x', '--category', 'zoo')).posting_id
    expect(await ids('--category', 'zoo')).toEqual([first, second])
    expect(await ids('--category', 'zoo', '--limit', '1', '--page', '2')).toEqual([second])
    const page = await json('postings', 'list', '--category', 'zoo', '--limit', '1')
    expect(await ids('--category', 'zoo', '--cursor', page.next_cursor)).toEqual([second])
    expect(await ids('-s', 'two zebra')).toEqual([second])
    expect(await ids('--category', 'zoo', '--max-budget', '9.99')).toEqual([])
    expect(await ids('--category', 'zoo', '--created-after', '2100-01-01T00:00:00Z')).toEqual([])
    expect((await souk('requests', 'list', '--cursor', '1', '--page', '2')).code).toBe(2)
    const shown = await user.soukWith({ columns: 120 }, 'requests', 'list', '--category', 'zoo', '--limit', '1')
    expect(shown.out).toMatch(/REQUEST.*TITLE.*BUDGET[\s\S]*Zebra one.*open.*\$10\.00/)
  })

  it('is followed: what is there, then each new one as it is made, each once', async () => {
    const before = (await ask('--title', 'Old owl', '--brief', 'x', '--category', 'owls')).posting_id
    const stop = new AbortController()
    const lines: string[] = []
    const onOut = (text: string) => {
      lines.push(...text.split('\n').filter(Boolean))
      if (lines.length === 2) stop.abort()
    }
    const following = user.soukWith(
      { onOut, interrupt: stop.signal },
      ...['requests', 'list', '--follow', '--category', 'owls', '--ndjson'],
    )
    await expect.poll(() => lines.length).toBe(1)
    const after = (await ask('--title', 'New owl', '--brief', 'x', '--category', 'owls')).posting_id
    const { code } = await following
    expect([code, lines.map((line) => JSON.parse(line).posting_id)]).toEqual([130, [before, after]])
    expect((await souk('requests', 'list', '--follow', '-s', 'owl')).code).toBe(2)
  })
})

it('notifications are shown, set, narrowed and ended', async () => {
  const notifications = (...words: string[]) => json('requests', 'notifications', ...words, '--as', 'worker')
  expect(await notifications()).toMatchObject({ enabled: false, consecutive_failures: 0 })
  expect(await notifications('--on')).toMatchObject({ enabled: true, max_budget_usd: null })
  expect(await notifications('--max-budget', '9.5', '--category', 'art', '--category', 'zoo')).toMatchObject({
    enabled: true,
    max_budget_usd: 9.5,
    categories: ['art', 'zoo'],
  })
  const shown = await souk('requests', 'notifications', '--as', 'worker')
  expect(shown.out).toContain('9.5')
  expect(await notifications('--all')).toMatchObject({ enabled: true, max_budget_usd: null, categories: [] })
  expect(await notifications('--off')).toMatchObject({ enabled: false })
  expect((await souk('requests', 'notifications', '--off', '--on', '--as', 'worker')).code).toBe(2)
})
