import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Transport, TransportRequest } from '../transport.ts'
import { debugTransport, REDACTED } from './debug-transport.ts'

/* What `--debug=http` shows of an exchange with a server that repeats whatever it was sent, wherever it likes. */

type Answer = { headers: Record<string, string>; text: string }

async function shown(request: TransportRequest, answer: Answer): Promise<string> {
  const lines: string[] = []
  const transport: Transport = async () => ({
    status: 200,
    headers: answer.headers,
    text: async () => answer.text,
    bytes: async () => Buffer.from(answer.text),
    chunks: () => Readable.from([]),
    file: () => Readable.from([]),
  })
  const send = debugTransport(transport, { headers: {}, bodies: true, now: () => 0, line: (line) => lines.push(line) })
  await (await send(request)).text()
  return lines.join('\n')
}

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
/** As instances and wallets make them: known by their shape, wherever they stand. */
const shaped = fc.oneof(
  hex(40).map((digits) => `sk_${digits}`),
  hex(40).map((digits) => `adm_${digits}`),
  hex(64).map((digits) => `jt_${digits}`),
  hex(130).map((digits) => `0x${digits}`),
  fc.uint8Array({ minLength: 24, maxLength: 24 }).map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`),
)
/** Anything at all: known by the name that it goes under. */
const any = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 }).map((text) => `Q7${text.trim()}Z9`)
const secretHeader = fc.constantFrom(
  ...['X-API-Key', 'x-balance-auth', 'X-PAYMENT', 'PAYMENT-SIGNATURE', 'Sign-In-With-X', 'Cookie', 'X-Vendor-Token'],
)
const secretMember = fc.constantFrom(
  ...['api_key', 'apiKey', 'webhook_secret', 'access_token', 'signature', 'password', 'privateKey', 'mnemonic'],
)
const encoding = fc.constantFrom<(text: string) => string>(
  (text) => text,
  encodeURIComponent,
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
)

/** Places where a server can put a text. */
const echo = fc.constantFrom<(text: string) => Answer>(
  (text) => ({ headers: { 'x-echo': text }, text: '' }),
  (text) => ({ headers: { location: `/next?q=${text}&a=1` }, text: '' }),
  (text) => ({ headers: {}, text: JSON.stringify({ message: `you sent ${text}!`, deep: [{ [text]: 1 }, [text]] }) }),
  (text) => ({ headers: {}, text: JSON.stringify(text) }),
  (text) => ({ headers: {}, text: `<p>${text}</p>` }),
)

test('a credential that was sent is shown nowhere, however a server repeats it', async () => {
  await fc.assert(
    fc.asyncProperty(secretHeader, fc.oneof(any, shaped), encoding, echo, async (...[name, secret, encode, answer]) => {
      const sent = name === 'X-API-Key' ? { [name]: secret } : { [name]: secret, authorization: `Bearer ${secret}` }
      const text = await shown({ method: 'POST', path: '/v1/x', headers: sent }, answer(encode(secret)))
      expect(text).not.toContain(secret)
      expect(text).not.toContain(JSON.stringify(secret).slice(1, -1))
      expect(text).not.toContain(encode(secret))
      expect(text).toContain(`${name.toLowerCase()}: ${REDACTED}`)
    }),
  )
})

test('a credential is known by its shape, in a path, a header, a body and an answer', async () => {
  await fc.assert(
    fc.asyncProperty(shaped, fc.jsonValue({ maxDepth: 3 }), async (secret, other) => {
      const path = `/v1/jobs?text=${encodeURIComponent(secret)}`
      const body = JSON.stringify({ note: `so: ${secret}.`, other, list: [{ [secret]: secret }] })
      const text = await shown(
        { method: 'POST', path, headers: { 'x-note': secret }, body },
        { headers: { link: `<${secret}>` }, text: body },
      )
      expect(text).not.toContain(secret)
      expect(text).not.toContain(encodeURIComponent(secret))
    }),
  )
})

test('a credential is known by its name, whatever it is, in a body and in a query', async () => {
  const value = fc.oneof(
    any,
    any.map((text) => [text]),
    any.map((r) => ({ r, v: 27 })),
  )
  await fc.assert(
    fc.asyncProperty(secretMember, value, async (name, secret) => {
      const [word = ''] = /Q7.*Z9/.exec(JSON.stringify(secret)) ?? []
      const body = JSON.stringify({ payload: [{ [name]: secret, kept: 'this is shown' }] })
      const path = `/v1/x?kept=1&${name}=${encodeURIComponent(word)}`
      const text = await shown({ method: 'POST', path, body }, { headers: {}, text: body })
      expect(text).not.toContain(word)
      expect(text).not.toContain(encodeURIComponent(word))
      expect(text).toContain('this is shown')
      expect(text).toContain('kept=1')
    }),
  )
})

test('the part of a path that is a credential is left out, also of a link in an answer', async () => {
  const link = 'https://shop.example/verification/consent/abc123?x=1'
  const text = await shown(
    { method: 'GET', path: '/dashboard/traces/def456' },
    { headers: {}, text: `{"url":"${link}"}` },
  )
  expect(text).toContain(`> GET /dashboard/traces/${REDACTED}`)
  expect(text).toContain(`/verification/consent/${REDACTED}?x=1`)
})

test('what is too long is cut behind its masks, and what is no JSON is shown by its size', async () => {
  const key = `sk_${'a'.repeat(40)}`
  const long = await shown(
    { method: 'GET', path: '/' },
    { headers: { 'x-long': `${'b'.repeat(190)}${key}` }, text: JSON.stringify('c'.repeat(9_000)) },
  )
  expect(long).not.toContain('sk_')
  expect(long.length).toBeLessThan(5_000)
  expect(await shown({ method: 'GET', path: '/' }, { headers: {}, text: '<p>hello</p>' })).toContain('< 12 bytes')
})
