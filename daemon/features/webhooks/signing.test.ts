import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, test } from 'vitest'
import { checkedBy } from '../../../fixtures/kit/provider.ts'
import { participantDraft } from '../../../fixtures/kit/rows.ts'
import { signedHeaders } from '../../../src/core/webhook-signature.ts'
import { secretsOf } from './signing.ts'

const secret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString('base64')}`)
const message = fc.record({
  id: fc.stringMatching(/^evt_[0-9a-f]{16}$/),
  body: fc.string({ unit: 'binary', maxLength: 400 }).map((text) => JSON.stringify({ text })),
})
const text = (headers: Record<string, string>) => headers as Record<string, string> & { 'webhook-id': string }

describe('a signed message', () => {
  it('is taken by the published Standard Webhooks library and by a provider’s own check of both forms', () => {
    fc.assert(
      fc.property(secret, message, (key, { id, body }) => {
        const headers = signedHeaders({ id, body, secrets: [key], wall: Date.now() })
        expect(new Webhook(key).verify(body, text(headers))).toEqual(JSON.parse(body))
        expect(checkedBy({ headers, raw: body }, key)).toEqual({ standard: true, hex: true, previousHex: false })
      }),
    )
  })

  it('is refused by both under another secret, and when a byte of it changes', () => {
    fc.assert(
      fc.property(secret, secret, message, (key, other, { id, body }) => {
        fc.pre(key !== other)
        const headers = signedHeaders({ id, body, secrets: [key], wall: Date.now() })
        expect(() => new Webhook(other).verify(body, text(headers))).toThrow('No matching signature')
        expect(() => new Webhook(key).verify(`${body} `, text(headers))).toThrow('No matching signature')
        expect(checkedBy({ headers, raw: body }, other)).toMatchObject({ standard: false, hex: false })
        expect(checkedBy({ headers, raw: `${body} ` }, key)).toMatchObject({ standard: false, hex: false })
      }),
    )
  })

  it('is old after five minutes', () => {
    const [key] = fc.sample(secret, 1) as [string]
    const aged = (seconds: number) =>
      text(signedHeaders({ id: 'evt_1', body: '{}', secrets: [key], wall: Date.now() - seconds * 1_000 }))
    expect(() => new Webhook(key).verify('{}', aged(310))).toThrow('too old')
    expect(new Webhook(key).verify('{}', aged(290))).toEqual({})
  })

  it('during a rotation is taken under the old secret and under the new one', () => {
    const [current, previous] = fc.sample(secret, 2) as [string, string]
    const headers = signedHeaders({ id: 'evt_1', body: '{}', secrets: [current, previous], wall: Date.now() })
    for (const key of [current, previous]) expect(new Webhook(key).verify('{}', text(headers))).toEqual({})
    expect(checkedBy({ headers, raw: '{}' }, current)).toEqual({ standard: true, hex: true, previousHex: false })
    expect(checkedBy({ headers, raw: '{}' }, previous)).toEqual({ standard: true, hex: false, previousHex: true })
  })
})

test('the secret before a rotation counts until its time is over', () => {
  const row = { ...participantDraft(1), version: 1, webhook_secret: 'new' }
  const rotated = { ...row, previous_webhook_secret: { secret: 'old', until: 1_000 } }
  expect(secretsOf(row, 0)).toEqual(['new'])
  expect(secretsOf(rotated, 999)).toEqual(['new', 'old'])
  expect(secretsOf(rotated, 1_000)).toEqual(['new'])
})
