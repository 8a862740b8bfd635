import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { explainWebhook } from '../../commands/webhooks/verify.ts'
import { signedHeaders } from './webhook-signature.ts'
import { type ReceivedWebhook, verifyWebhook, WEBHOOK_TOLERANCE_SECONDS } from './webhook-verify.ts'

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, so').toString('base64')}`
const OLDER = `whsec_${Buffer.from('the one before the rotation, yes').toString('base64')}`
const NOW = Date.UTC(2026, 0, 2)
const BODY = JSON.stringify({ type: 'job_dispatch', event_id: 'evt_1', created_at: '2026-01-02', job_id: 'job_1' })

function sent(change: Partial<ReceivedWebhook> = {}): ReceivedWebhook {
  const headers = signedHeaders({ id: 'whd_1', body: BODY, secrets: [SECRET], wall: NOW })
  return { headers, body: BODY, secrets: [SECRET], now: NOW, ...change }
}
const withHeader = (name: string, value: string | undefined) => sent({ headers: { ...sent().headers, [name]: value } })

describe('a message is verified', () => {
  it('as it was sent, in bytes or text, with the id to remember it by', () => {
    expect(verifyWebhook(sent())).toEqual({ ok: true, id: 'whd_1', timestamp: NOW / 1_000 })
    expect(verifyWebhook(sent({ body: Buffer.from(BODY) }))).toMatchObject({ ok: true })
  })

  it('by either secret of a rotation', () => {
    const headers = signedHeaders({ id: 'whd_1', body: BODY, secrets: [SECRET, OLDER], wall: NOW })
    expect(verifyWebhook(sent({ headers }))).toMatchObject({ ok: true })
    expect(verifyWebhook(sent({ secrets: [OLDER, SECRET] }))).toMatchObject({ ok: true })
    expect(verifyWebhook(sent({ headers, secrets: [OLDER] }))).toMatchObject({ ok: true })
  })

  it('by one form alone', () => {
    expect(verifyWebhook(withHeader('webhook-signature', undefined))).toMatchObject({ ok: true })
    expect(verifyWebhook(withHeader('x-webhook-signature', undefined))).toMatchObject({ ok: true })
  })

  it('within the tolerance on both sides of the clock', () => {
    const at = (seconds: number) => verifyWebhook(sent({ now: NOW + seconds * 1_000 })).ok
    expect([-1, 1].map((side) => at(side * WEBHOOK_TOLERANCE_SECONDS))).toEqual([true, true])
    expect([-1, 1].map((side) => at(side * (WEBHOOK_TOLERANCE_SECONDS + 1)))).toEqual([false, false])
  })

  test('never for other bytes, whatever the headers say', () => {
    const { headers } = sent()
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.dictionary(fc.constantFrom(...Object.keys(headers)), fc.string()),
        (body, secret, more) => {
          fc.pre(body !== BODY || secret !== SECRET)
          expect(verifyWebhook(sent({ body, secrets: [secret], headers: { ...headers, ...more } })).ok).toBe(false)
        },
      ),
    )
  })
})

describe('what is wrong is named', () => {
  test.each<[what: string, message: ReceivedWebhook, fault: string]>([
    ['the secret of another account', sent({ secrets: [OLDER] }), 'secret'],
    ['a secret with a line break behind it', sent({ secrets: [`${SECRET}\n`] }), 'secret'],
    ['a blank behind the body', sent({ body: `${BODY} ` }), 'body'],
    ['another body', sent({ body: BODY.replace('job_1"', 'job_2"') }), 'secret'],
    ['JSON printed again with spaces', sent({ body: JSON.stringify(JSON.parse(BODY), null, 2) }), 'rewritten'],
    [
      'JSON printed again in another order',
      sent({ body: JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(BODY)).reverse())) }),
      'rewritten',
    ],
    ['a time long ago', sent({ now: NOW + 3_600_000 }), 'stale'],
    ['another scheme', withHeader('webhook-signature', 'v1a,AAAA'), 'scheme'],
    ['a digest of another kind', withHeader('x-webhook-signature', `sha1=${'0'.repeat(40)}`), 'scheme'],
    [
      'a signature cut short',
      withHeader('webhook-signature', sent().headers['webhook-signature']?.slice(0, 20)),
      'truncated',
    ],
    ['no signature', sent({ headers: { 'webhook-id': 'whd_1' } }), 'missing'],
    ['a time in words', withHeader('webhook-timestamp', 'yesterday'), 'malformed'],
  ])('%s', (_what, message, fault) => {
    expect(verifyWebhook(message).ok).toBe(false)
    expect(explainWebhook(message)).toMatchObject({ ok: false, fault, advice: expect.stringMatching(/\.$/) })
  })

  it('without ever trusting what only nearly fits', () => {
    const forged = `v1,${createHmac('sha256', 'x').update('y').digest('base64')}`
    expect(explainWebhook(withHeader('webhook-signature', forged))).toMatchObject({ ok: false, fault: 'secret' })
  })
})
