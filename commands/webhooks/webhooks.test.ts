import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProvider, type Provider, type Received } from '../../fixtures/kit/provider.ts'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

/* A provider at the bench: messages as a marketplace really sent them, and what becomes of them on the way. */

let shop: RemoteMarket
let hook: Provider
let service: string
let secret: string
let sent: Received

beforeAll(async () => {
  shop = await openRemoteMarket()
  hook = await openProvider()
  await shop.json(['wallet', 'new', 'ann'])
  await shop.json(['wallet', 'fund', 'ann'])
  const registering = ['account', 'register', '--role', 'provider', '--webhook', hook.url, '--as', 'ann']
  secret = (await shop.json(registering)).webhook_secret
  const fields = [
    'name=Echo',
    'description=Echoes',
    'price=0.50',
    'fulfillment_type=automated',
    `webhook_url=${hook.url}`,
  ]
  service = (await shop.json(['services', 'create', ...fields.flatMap((one) => ['--set', one]), '--as', 'ann'])).id
  await shop.json(['services', 'test', service, '--as', 'ann'])
  sent = hook.received.at(-1) as Received
})
afterAll(async () => {
  await shop.market.close()
  await hook.close()
})

type Arrived = { readonly headers: Record<string, string>; readonly body: string; readonly secret: string }

/** The message as it was sent, changed on the way. */
async function verified(change: (sent: Arrived) => Partial<Arrived> = () => ({}), ...more: string[]) {
  const signed = Object.entries(sent.headers).filter(([name]) => name.includes('webhook'))
  const right: Arrived = {
    headers: Object.fromEntries(signed.map(([name, v]) => [name, String(v)])),
    body: sent.raw,
    secret,
  }
  const { headers, body, secret: known } = { ...right, ...change(right) }
  const [bodyFile, secretFile] = ['body.json', 'secret.txt'].map((name) => join(shop.market.dir, name)) as [
    string,
    string,
  ]
  writeFileSync(bodyFile, body)
  writeFileSync(secretFile, known)
  const words = ['webhooks', 'verify', '--body', bodyFile, '--secret-file', secretFile, '--json', ...more]
  const { code, out, err } = await shop.souk([
    ...words,
    ...Object.entries(headers).flatMap(([name, v]) => ['-H', `${name}: ${v}`]),
  ])
  return { code, err, found: out === '' ? null : JSON.parse(out) }
}

const withHeader = (name: string, change: (value: string) => string) => (arrived: Arrived) => ({
  headers: { ...arrived.headers, [name]: change(arrived.headers[name] ?? '') },
})

/** Words that verify the message from a file of the whole request. */
function asWrittenDown(): string[] {
  const head = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`)
  const file = join(shop.market.dir, 'request.txt')
  writeFileSync(file, ['POST /hook HTTP/1.1', ...head, '', sent.raw].join('\r\n'))
  return ['webhooks', 'verify', '--request', file, '--json']
}

describe('a message that arrived', () => {
  test('as it was sent is right', async () => {
    expect(await verified()).toMatchObject({ code: 0, found: { ok: true, id: sent.headers['webhook-id'] } })
  })

  test.each<[string, (sent: Arrived) => Partial<Arrived>, string]>([
    ['under the secret of somebody else', () => ({ secret: `whsec_${'A'.repeat(43)}=` }), 'secret: another account'],
    ['under a secret with a blank behind it', (one) => ({ secret: `${one.secret} ` }), 'secret: whitespace'],
    ['with a blank behind its body', ({ body }) => ({ body: `${body} ` }), 'body: extra white space'],
    ['with another body', ({ body }) => ({ body: body.replace('true', 'trUe') }), 'secret: the body was changed'],
    [
      'with JSON that was written again',
      ({ body }) => ({ body: JSON.stringify(JSON.parse(body), null, 2) }),
      'rewritten: parsed and serialised again',
    ],
    ['signed in another scheme', withHeader('webhook-signature', (v) => v.replace('v1,', 'v1a,')), 'scheme: v1,BASE64'],
    ['with a header that was cut', withHeader('webhook-signature', (v) => v.slice(0, 30)), 'truncated: 30 characters'],
    [
      'without its time',
      ({ headers: { 'webhook-timestamp': _, ...headers } }) => ({ headers }),
      'missing: webhook-timestamp',
    ],
    ['with a time that is none', withHeader('webhook-timestamp', () => 'today'), 'malformed: Unix time in seconds'],
    ['without any signature', () => ({ headers: {} }), 'missing: webhook-signature'],
  ])('%s is named so', async (_, change, wanted) => {
    const [fault, says] = wanted.split(': ')
    const { code, found } = await verified(change)
    expect([code, found.ok, found.fault]).toEqual([11, false, fault])
    expect(`${found.message} ${found.advice}`).toContain(says)
  })

  test('late is named so, and was right when it came', async () => {
    const came = Number(sent.headers['webhook-timestamp']) * 1_000
    const at = (ms: number) => ['--at', new Date(ms).toISOString()]
    expect((await verified(undefined, ...at(came + 301_000))).found).toMatchObject({ ok: false, fault: 'stale' })
    expect((await verified(undefined, ...at(came + 299_000))).found).toMatchObject({ ok: true })
    expect((await verified(undefined, ...at(came + 301_000), '--tolerance', '10m')).found).toMatchObject({ ok: true })
  })

  test('is read from a request as it was written down, bytes and all', async () => {
    const words = asWrittenDown()
    const right = await shop.souk(words, { env: { SOUK_WEBHOOK_SECRET: secret } })
    expect([right.code, JSON.parse(right.out).ok]).toEqual([0, true])
    await shop.json(['wallet', 'new', 'zoe'])
    const none = await shop.souk([...words, '--as', 'zoe'])
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('No webhook secret is saved')])
  })
})

describe('the secret of an account', () => {
  test('is printed as it came with the registration, shown masked, and kept anew at a rotation', async () => {
    const printed = await shop.souk(['webhooks', 'secret', '--as', 'ann'])
    expect([printed.code, printed.out]).toEqual([0, `${secret}\n`])
    // Whose account it is needs no secret named: it is kept since the registration.
    const kept = await shop.souk([...asWrittenDown(), '--as', 'ann'])
    expect([kept.code, JSON.parse(kept.out).ok]).toEqual([0, true])
    const shown = await shop.json(['account', 'show', '--as', 'ann'])
    expect(shown).toMatchObject({ webhook_url: hook.url, webhook_secret: `${secret.slice(0, 9)}…${secret.slice(-3)}` })
    const rotated = await shop.souk(['webhooks', 'secret', '--rotate', '--yes', '--as', 'ann'])
    expect([rotated.code, rotated.out]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)])
    expect(rotated.out).not.toContain(secret)
    expect((await shop.souk(['webhooks', 'secret', '--as', 'ann'])).out).toBe(rotated.out)
    const edited = await shop.souk(['account', 'edit', '--set', 'rotate_webhook_secret=true', '--as', 'ann'])
    const [made] = /whsec_\S+/.exec(edited.out) ?? []
    expect((await shop.souk(['webhooks', 'secret', '--as', 'ann'])).out).toBe(`${made}\n`)
  })
})

describe('what was sent', () => {
  test('is listed, looked at with what was answered, and sent again', async () => {
    hook.answer = () => ({ body: 'taken' })
    const { deliveries } = await shop.json(['webhooks', 'list', '--as', 'ann'])
    const [{ delivery_id: id, event_id: event }] = deliveries
    expect(await shop.json(['webhooks', 'view', id, '--as', 'ann'])).toMatchObject({ delivery_id: id, event_id: event })
    expect(await shop.json(['webhooks', 'view', event, '--as', 'ann'])).toMatchObject({ delivery_id: id })
    const missing = await shop.souk(['webhooks', 'view', 'whd_ffffffffffffffff', '--as', 'ann'])
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('souk webhooks list')])
    expect(await shop.json(['webhooks', 'replay', id, '--as', 'ann'])).toMatchObject({ total: 1 })
  })

  test('is followed try by try, and what comes meanwhile is told once', async () => {
    const stop = new AbortController()
    const lines: string[] = []
    const onOut = (text: string) => {
      lines.push(...text.split('\n').filter(Boolean))
      if (lines.length === 1) void shop.json(['services', 'test', service, '--as', 'ann'])
      if (lines.length === 2) stop.abort('SIGINT')
    }
    const words = ['webhooks', 'tail', '--last', '1', '--as', 'ann', '--ndjson']
    const { code } = await shop.souk(words, { interrupt: stop.signal, onOut })
    expect(code).toBe(130)
    const tries = lines.map((line) => JSON.parse(line))
    expect(new Set(tries.map((one) => `${one.delivery_id} ${one.number}`)).size).toBe(tries.length)
    expect(tries[1]).toMatchObject({ type: 'test', status: 200, error: null })
    const failed = await shop.lines(['webhooks', 'tail', '--once', '--failed', '--as', 'ann'])
    expect(failed.lines).toEqual([])
  })
})
