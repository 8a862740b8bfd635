import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkedBy, openProvider, type Provider } from '../fixtures/kit/provider.ts'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'

let shop: RemoteMarket
let hook: Provider
let service: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  hook = await openProvider('/hook?from=souk')
  for (const who of ['ann', 'bob']) {
    await shop.json(['wallet', 'new', who])
    await shop.json(['wallet', 'fund', who])
    await shop.json(['account', 'register', '--role', 'provider', '--as', who])
  }
  const fields = ['name=Words', 'description=Counts', 'price=0.50', 'fulfillment_type=human']
  const set = fields.flatMap((field) => ['--set', field])
  service = (await shop.json(['services', 'create', ...set, '--as', 'bob'])).id
})
afterAll(async () => {
  await shop.market.close()
  await hook.close()
})

const buy = async (): Promise<string> =>
  (await shop.json(['buy', service, '-i', 'text=hi', '--as', 'ann', '--pay', 'x402'])).job_id
const listen = (...words: string[]) => shop.lines(['listen', '--as', 'bob', ...words])
const there = (...words: string[]) => listen('--once', '--since', '1h', ...words)

/** Where things stand, to begin behind. */
async function cursor(): Promise<string> {
  const { lines } = await there()
  return lines.at(-1)?.cursor ?? '0'
}

test('what happened is listed, by type, from a time or from a cursor on', async () => {
  const before = await cursor()
  const jobs = [await buy(), await buy()]
  const { code, lines } = await there('--events', 'job.*')
  expect(code).toBe(0)
  expect(lines.slice(-2).map(({ type, subject }) => [type, subject.id])).toEqual(
    jobs.map((id) => ['job.dispatched', id]),
  )
  expect(lines.at(-1)).toMatchObject({ data: { brief: { text: 'hi' } }, delivery: null })
  expect((await listen('--once', '--since', before, '--events', '*.dispatched')).lines).toHaveLength(2)
  expect((await listen('--once')).lines).toEqual([])
  const { out } = await shop.souk(['listen', '--as', 'bob', '--once', '--since', before])
  expect(out).toMatch(/^\d\d:\d\d:\d\d job\.dispatched +job_[0-9a-f]{16}$/m)
})

describe('handed on', () => {
  test('to an address: as an endpoint would get it, signed, and again after a failure', async () => {
    const before = await cursor()
    const job = await buy()
    const secret = (await shop.json(['listen', '--print-secret'])).secret
    const answers = [502, 200]
    hook.answer = () => ({ status: answers.shift() ?? 200 })
    hook.received.length = 0
    // As people type it: without the scheme.
    const to = ['--forward-to', hook.url.replace('http://', ''), '--header', 'X-Tenant: blue', '--events', 'job.*']
    const { code, lines, err } = await listen('--once', '--since', before, ...to)
    expect([code, lines.map(({ delivery }) => [delivery.status, delivery.attempts])]).toEqual([0, [[200, 2]]])
    expect(err).toContain('retry 1/5')
    const [first, again] = hook.received
    expect(again?.body).toEqual(first?.body)
    expect(again?.headers).toMatchObject({ 'x-tenant': 'blue', 'webhook-id': lines[0].id })
    expect(again && checkedBy(again, secret)).toMatchObject({ standard: true, hex: true })
    expect(again?.body).toMatchObject({ type: 'job_dispatch', job_id: job, brief: { text: 'hi' } })
    expect(again?.body.callback_url).toMatch(new RegExp(`^${shop.market.url()}/v1/threads/thr_\\w+/update$`))
  })

  test('to a command: on its stdin, with its exit code', async () => {
    const before = await cursor()
    await buy()
    const script = `read event; echo "$SOUK_EVENT_TYPE $event" >&2; exit 3`
    const to = ['--exec', script, '--shell', '--events', 'job.*']
    const { code, lines, err } = await listen('--once', '--since', before, ...to)
    expect([code, lines[0].delivery]).toMatchObject([0, { ok: false, status: 3 }])
    expect(err).toContain(`job.dispatched {"id":"${lines[0].id}"`)
  })
})

test('it goes on over a restart of the instance, until ctrl-c', async () => {
  const ctrlC = new AbortController()
  const seen: string[] = []
  const news = { count: 0, more: Promise.withResolvers<void>() }
  const onOut = (text: string) => {
    seen.push(text)
    news.more.resolve()
  }
  const listening = shop.lines(['listen', '--as', 'bob', '--since', await cursor(), '--events', 'job.*'], {
    interrupt: ctrlC.signal,
    onOut,
  })
  const first = await buy()
  await news.more.promise
  news.more = Promise.withResolvers()
  await shop.restart()
  const second = await buy()
  await news.more.promise
  ctrlC.abort()
  const { code, lines } = await listening
  expect([code, lines.map(({ subject }) => subject.id)]).toEqual([130, [first, second]])
})

test.each<[string, string[], number, string]>([
  ['a start that is none', ['--since', 'yesterday'], 2, '--since'],
  ['a cursor that was never given', ['--since', '999999'], 2, 'cursor'],
  ['two receivers', ['--forward-to', 'http://127.0.0.1:1', '--exec', 'cat'], 2, 'cannot be combined'],
  ['an address that is none', ['--forward-to', 'ftp://x'], 2, '--forward-to'],
  ['a header that is none', ['--forward-to', 'http://127.0.0.1:1', '--header', 'x'], 2, '--header'],
  ['a type that is none', ['--events', 'Job!'], 2, 'types'],
  ['nobody to act as', ['--as', 'nobody'], 3, 'nobody'],
])('%s is refused', async (...[, words, exit, said]) => {
  const { code, out, err } = await shop.souk(['listen', '--once', '--as', 'bob', ...words])
  expect([code, out, err]).toEqual([exit, '', expect.stringContaining(said)])
})
