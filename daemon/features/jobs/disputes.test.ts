import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Escrow, openEscrow, PRICE } from '../../../fixtures/market/escrow.ts'
import { signPayment } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { toBase64 } from '../../../src/api/endpoint/x402.ts'
import { usdc } from '../../../src/core/money.ts'
import { receiptDigest, type SignedSale } from '../../../src/core/offer-receipt.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { events } from '../../events/rows.ts'
import { participants } from '../../kernel/rows.ts'
import { writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { services } from '../listings/rows.ts'
import { termsOf } from '../listings/versions.ts'
import { openEscrowJob } from './open.ts'

let market: Escrow
let human: string
let automated: string
beforeAll(async () => {
  market = await openEscrow()
  human = await market.list('human')
  automated = await market.list('automated', { webhook_url: null })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const complaint = { reason: 'half of it is missing', category: 'quality' }

async function delivered(service = human, options: { from?: 'x402' | 'balance'; referral?: string } = {}) {
  const { from = 'x402', referral } = options
  const who = await market.agent({ balance: '5.00', ...(referral ? { referral } : {}) })
  const { body } = await market.buy(service, who, { from })
  const done = { status: 'completed', deliverables: { words: 3 } }
  expect((await market.provider.call('POST', `/v1/jobs/${body.job_id}/update`, done)).status).toBe(200)
  return { who, id: body.job_id as string, thread: body.thread_id as string }
}

async function disputed(options: Parameters<typeof delivered>[1] = {}) {
  const job = await delivered(human, options)
  const answer = await job.who.pay(`/v1/jobs/${job.id}/dispute`, { body: complaint })
  expect([answer.status, answer.body.status, answer.body.escrow.status]).toEqual([200, 'disputed', 'held'])
  return { ...job, answer: answer.body }
}

const resolve = (id: string, body: object) =>
  market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/resolve`, { body: { reason: 'looked at it', ...body } })

describe('a dispute with the signed offer and receipt of the purchase', () => {
  async function proven(format: 'eip712' | 'jws') {
    const who = await market.agent({ balance: '5.00' })
    const path = `/v1/services/${human}/purchase`
    const decode = (header: string | null | undefined) => JSON.parse(Buffer.from(header ?? '', 'base64').toString())
    const unpaid = await market.market.call('POST', path, { body: {} })
    const { extensions } = decode(unpaid.headers.get('PAYMENT-REQUIRED'))
    const { info } = extensions['offer-receipt']
    const offer = info.offers.find((one: SignedSale['offer']) => one.format === format)
    info.offers = [offer]
    const payment = decode((await signPayment(who.account, unpaid, { version: 2 }))['PAYMENT-SIGNATURE'])
    const headers = { 'PAYMENT-SIGNATURE': toBase64({ ...payment, extensions }) }
    const bought = await market.market.call('POST', path, { body: {}, headers })
    const { receipt } = decode(bought.headers.get('PAYMENT-RESPONSE')).extensions['offer-receipt'].info
    const { job_id: id, thread_id: thread } = bought.body
    const done = { status: 'completed', deliverables: { words: 3 } }
    expect((await market.provider.call('POST', `/v1/jobs/${id}/update`, done)).status).toBe(200)
    return { who, id: id as string, thread: thread as string, proof: { offer, receipt } }
  }
  const refused = async (who: Person, id: string, proof: object) => {
    const before = await market.onChain(who)
    const { status, body } = await who.pay(`/v1/jobs/${id}/dispute`, { body: { ...complaint, proof } })
    expect(await market.onChain(who)).toBe(before)
    return [status, body.details?.[0]?.path]
  }

  test.each(['eip712', 'jws'] as const)('as %s shows them to the operator who decides', async (format) => {
    const { who, id, thread, proof } = await proven(format)
    const answer = await who.call('POST', `/v1/threads/${thread}/dispute`, { ...complaint, proof })
    expect(answer.body.job.dispute.proof).toEqual(proof)
    const bundle = await market.market.admin('GET', `/dashboard/api/admin/jobs/${id}/bundle`)
    expect(bundle.body.job.dispute.proof).toEqual(proof)
  })

  test('is refused with the name of the field that is forged or of another purchase, and charges nobody', async () => {
    const [one, other] = [await proven('eip712'), await proven('eip712')]
    const { who, id, proof } = one
    const { offer, receipt } = proof
    const forged = { ...offer, payload: { ...offer.payload, amount: '1' } }
    expect(await refused(who, id, { offer: forged, receipt })).toEqual([400, 'proof.offer'])
    const own = await who.account.sign({ hash: `0x${Buffer.from(receiptDigest(receipt.payload)).toString('hex')}` })
    expect(await refused(who, id, { offer, receipt: { ...receipt, signature: own } })).toEqual([400, 'proof.receipt'])
    expect(await refused(who, id, other.proof)).toEqual([400, 'proof.receipt.transaction'])
    const { proof: jws } = await proven('jws')
    const cut = { ...jws.offer, signature: `${jws.offer.signature}A` }
    expect((await refused(who, id, { offer: cut, receipt }))[1]).toContain('proof.offer')
    const long = { ...offer, payload: { ...offer.payload, resourceUrl: 'x'.repeat(10_000) } }
    expect((await refused(who, id, { offer: long, receipt }))[1]).toContain('proof.offer')
    const sound = await who.pay(`/v1/jobs/${id}/dispute`, { body: { ...complaint, proof } })
    expect([sound.status, sound.body.dispute.proof]).toEqual([200, proof])
  })
})

describe('a dispute in time', () => {
  test('costs $0.005, holds the money past 48 h, and says who decides', async () => {
    const { who, id, thread } = await delivered()
    const before = await market.onChain(who)
    const answer = await who.pay(`/v1/jobs/${id}/dispute`, { body: complaint })
    expect(before - (await market.onChain(who))).toBe(5_000n)
    expect(answer.body.dispute).toMatchObject({ ...complaint, status: 'open', resolution: null, evidence: [] })
    const { next_event, next_event_at } = answer.body.escrow
    expect([next_event, Date.parse(next_event_at) - Date.parse(answer.body.dispute.opened_at)]).toEqual([
      'remind',
      3 * DAY_MS,
    ])
    expect(answer.body.dispute.decision).toEqual({ by: 'operator', outcome: null, at: null })
    market.pass(3 * DAY_MS)
    await market.monitor()
    expect([(await market.job(id)).status, await market.escrowed(id), await market.threadStatus(thread)]).toEqual([
      'disputed',
      PRICE.agent,
      'disputed',
    ])
  })

  test.each(['key', 'payment'])('at the thread by %s', async (door) => {
    const { who, id, thread } = await delivered()
    const before = await market.onChain(who)
    const path = `/v1/threads/${thread}/dispute`
    const answer = door === 'key' ? await who.call('POST', path, complaint) : await who.pay(path, { body: complaint })
    expect([answer.status, answer.body.status, answer.body.job.dispute.status]).toEqual([200, 'disputed', 'open'])
    expect(before - (await market.onChain(who))).toBe(door === 'key' ? 0n : 1_000n)
    expect((await market.job(id)).status).toBe('disputed')
  })

  test.each([
    { reason: ' ', category: 'quality' },
    { reason: 'x', category: 'bad' },
    { reason: 'x' },
    { ...complaint, evidence: ['job_0123456789abcdef'] },
    { ...complaint, money: '1' },
  ])('%j is a 400 and costs nothing', async (body) => {
    const { who, id } = await delivered()
    const before = await market.onChain(who)
    expect((await who.pay(`/v1/jobs/${id}/dispute`, { body })).status).toBe(400)
    expect([await market.onChain(who), (await market.job(id)).status]).toEqual([before, 'completed'])
  })
})

describe('a ruling', () => {
  test('for the provider pays it at once', async () => {
    const { id } = await disputed()
    const before = await market.booked(account.provider(market.provider.id))
    const ruled = await resolve(id, { outcome: 'release' })
    expect([ruled.status, ruled.body.status, ruled.body.verification.by]).toEqual([200, 'released', 'ruling'])
    expect(ruled.body.dispute).toMatchObject({
      status: 'resolved',
      resolution: 'release',
      resolved_by: 'admin',
      resolution_reason: 'looked at it',
    })
    expect((await market.booked(account.provider(market.provider.id))) - before).toBe(PRICE.net)
  })

  test.each(['x402', 'balance'] as const)('for the buyer gives back what was paid by %s', async (from) => {
    const { id, who } = await disputed({ from })
    const before = { wallet: await market.onChain(who), balance: await market.booked(account.balance(who.id)) }
    const ruled = await resolve(id, { outcome: 'refund' })
    expect([ruled.body.status, ruled.body.escrow.status]).toEqual(['refunded', 'refunded'])
    expect(await market.faults()).toEqual([])
    const back = from === 'x402' ? [PRICE.agent, 0n] : [0n, PRICE.agent]
    expect([
      (await market.onChain(who)) - before.wallet,
      (await market.booked(account.balance(who.id))) - before.balance,
    ]).toEqual(back)
  })

  // The provider gets its share of what the buyer does not get back, floored; the rest is kept, and shared on.
  test.each([
    ['0.1', { back: 100_000n, net: 404_761n, kept: 20_239n, shared: 4_047n }],
    ['0.00', { back: 0n, net: 500_000n, kept: 25_000n, shared: 5_000n }],
    ['0.525', { back: 525_000n, net: 0n, kept: 0n, shared: 0n }],
    ['0.524999', { back: 524_999n, net: 0n, kept: 1n, shared: 0n }],
  ])('may split: $%s goes back', async (buyer_amount, { back, net, kept, shared }) => {
    const referrer = await market.agent()
    const { id, who } = await disputed({ from: 'balance', referral: referrer.id })
    const names = [
      account.balance(who.id),
      account.provider(market.provider.id),
      account.fees,
      account.referralPending(referrer.id),
    ]
    const before = await Promise.all(names.map(market.booked))
    const ruled = await resolve(id, { outcome: 'split', buyer_amount })
    expect([ruled.body.status, ruled.body.escrow.status, ruled.body.dispute.resolution]).toEqual([
      'released',
      'split',
      'split',
    ])
    const after = await Promise.all(names.map(market.booked))
    expect(after.map((amount, at) => amount - (before[at] ?? 0n))).toEqual([back, net, kept - shared, shared])
    expect(await market.escrowed(id)).toBe(0n)
  })

  test('a split of an x402 payment pays the wallet', async () => {
    const { id, who } = await disputed()
    const before = await market.onChain(who)
    await resolve(id, { outcome: 'split', buyer_amount: '0.25' })
    expect(await market.faults()).toEqual([])
    expect((await market.onChain(who)) - before).toBe(250_000n)
  })

  test.each([
    { outcome: 'split' },
    { outcome: 'split', buyer_amount: '0.526' },
    { outcome: 'split', buyer_amount: '-0.1' },
    { outcome: 'refund', buyer_amount: '0.1' },
    { outcome: 'nothing' },
    { outcome: 'refund', reason: '' },
  ])('%j is a 400', async (body) => {
    const { id } = await disputed()
    expect((await resolve(id, body)).status).toBe(400)
    expect((await market.job(id)).status).toBe('disputed')
  })

  test('that nobody makes is waited for: a dispute is no way to free work, however long it takes', async () => {
    const { id } = await disputed()
    for (let rest = 0; rest < 12; rest += 1) {
      market.pass(5 * DAY_MS)
      await market.monitor()
    }
    const job = await market.job(id)
    expect([job.status, job.escrow_status, job.next_event]).toEqual(['disputed', 'held', 'remind'])
    const heard = await market.ctx().store.table(events).page('own', [market.provider.id], { limit: 50, order: 'desc' })
    const reminders = heard.rows.filter(({ type, subject_id }) => type === 'job.dispute_undecided' && subject_id === id)
    expect(reminders[0]?.data).toMatchObject({ decision: { by: 'operator', outcome: null, at: null } })
    expect((await resolve(id, { outcome: 'release' })).body.status).toBe('released')
  })

  const [none, back, half] = [0n, PRICE.agent, PRICE.agent / 2n]
  test.each([
    ['release', 7, none],
    ['refund', 14, back],
    ['split', 2, half],
  ] as const)('that nobody makes is %s after %i days where that was set, and not what is set later', async (...set) => {
    const [outcome, days, toBuyer] = set
    const features = (body: object) => market.market.admin('PUT', '/dashboard/api/admin/features', { body })
    expect((await features({ disputes_default: { outcome, days } })).body.disputes_default).toEqual({ outcome, days })
    const { id, who, answer } = await disputed({ from: 'balance' })
    const at = new Date(Date.parse(answer.dispute.opened_at) + days * DAY_MS).toISOString()
    expect([answer.dispute.decision, answer.escrow.next_event_at]).toEqual([{ by: 'default', outcome, at }, at])
    const talk = await who.call('GET', `/v1/threads/${answer.thread_id}`)
    expect(talk.body.messages.at(-1).body).toContain(at)
    expect((await features({ disputes_default: null })).body.disputes_default).toBeNull()
    const before = await market.booked(account.balance(who.id))
    market.pass(days * DAY_MS - HOUR_MS)
    await market.monitor()
    expect((await market.job(id)).status).toBe('disputed')
    market.pass(HOUR_MS)
    await market.monitor()
    const job = await market.job(id)
    expect([job.status, job.dispute?.resolution, job.dispute?.resolved_by]).toEqual([
      outcome === 'refund' ? 'refunded' : 'released',
      outcome,
      'system',
    ])
    expect((await market.booked(account.balance(who.id))) - before).toBe(toBuyer)
  })

  test('by halves waits while escrow is paused, since it pays the provider, too', async () => {
    await commit(market.ctx(), (t) => writePlatform(t, { disputes_default: { outcome: 'split', days: 1 } }))
    const { id } = await disputed()
    await commit(market.ctx(), (t) => writePlatform(t, { disputes_default: null }))
    await market.setPaused({ escrow: true })
    market.pass(DAY_MS)
    await market.monitor()
    expect((await market.job(id)).status).toBe('disputed')
    await market.setPaused({ escrow: false })
    market.pass(HOUR_MS)
    await market.monitor()
    expect((await market.job(id)).escrow_status).toBe('split')
  })

  test.each([{ outcome: 'coin', days: 3 }, { outcome: 'refund', days: 0 }, { outcome: 'refund' }, 'refund'])(
    'is not set to %j',
    async (disputes_default) => {
      const refused = await market.market.admin('PUT', '/dashboard/api/admin/features', { body: { disputes_default } })
      expect([refused.status, refused.body.details[0].path.split('.')[0]]).toEqual([400, 'disputes_default'])
    },
  )
})

describe('after an automatic verification', () => {
  test('a dispute is an event for both sides and moves nothing, once, within 7 days', async () => {
    const { who, id, thread } = await delivered(automated)
    await market.monitor()
    const before = { ...(await market.job(id)), version: 0 }
    market.pass(7 * DAY_MS - HOUR_MS)
    const answer = await who.pay(`/v1/threads/${thread}/dispute`, { body: complaint })
    expect([answer.status, answer.body.status, answer.body.job.status]).toEqual([200, 'verified', 'released'])
    expect(answer.body.job.dispute).toMatchObject({ ...complaint, status: 'recorded', resolution: null })
    const after = { ...(await market.job(id)), version: 0 }
    expect({ ...after, dispute: null, timeline: before.timeline }).toEqual(before)
    for (const party of [who.id, market.provider.id]) {
      const { rows } = await market.ctx().store.table(events).page('own', [party], { limit: 2, order: 'desc' })
      expect(rows.map((row) => row.type)).toContain('job.dispute_recorded')
    }
    const again = await who.pay(`/v1/threads/${thread}/dispute`, { body: complaint })
    expect([again.status, again.body.code]).toEqual([409, 'invalid_transition'])
    expect((await resolve(id, { outcome: 'refund' })).status).toBe(409)
  })

  test('later it is a 409, as it is after the buyer’s own verification', async () => {
    const late = await delivered(automated)
    const own = await delivered()
    await own.who.pay(`/v1/jobs/${own.id}/verify`, { body: {} })
    market.pass(7 * DAY_MS + HOUR_MS)
    for (const { who, thread } of [late, own]) {
      const refused = await who.call('POST', `/v1/threads/${thread}/dispute`, complaint)
      expect([refused.status, refused.body.code]).toEqual([409, 'invalid_transition'])
    }
  })
})

describe('an instant purchase', () => {
  test('is prepaid: verified or disputed as an event, and no money moves', async () => {
    const qr = await market.market.serviceId('qr_code')
    const who = await market.agent()
    const [one, two] = [
      await market.buy(qr, who, { body: { data: 'one' } }),
      await market.buy(qr, who, { body: { data: 'two' } }),
    ]
    await market.monitor()
    const accounts = [account.fees, account.ext]
    const before = await Promise.all(accounts.map(market.booked))
    const verified = await who.pay(`/v1/threads/${one.body.thread_id}/verify`, { body: { rating: 4 } })
    expect([verified.status, verified.body.job.status, verified.body.job.verification.rating]).toEqual([
      200,
      'verified',
      4,
    ])
    await market.monitor()
    expect((await market.job(one.body.job_id)).status).toBe('released')
    const disputed = await who.call('POST', `/v1/threads/${two.body.thread_id}/dispute`, complaint)
    expect([disputed.body.job.status, disputed.body.job.dispute.status]).toEqual(['completed', 'recorded'])
    market.pass(8 * DAY_MS)
    const late = await who.call('POST', `/v1/threads/${two.body.thread_id}/dispute`, complaint)
    expect([late.status, late.body.code]).toEqual([409, 'conflict'])
    const after = await Promise.all(accounts.map(market.booked))
    expect(after.map((amount, at) => amount - (before[at] ?? 0n))).toEqual([0n, -1_000n])
  })
})

test('a job inside a subscription costs nothing: it lives and ends like any other, and no money moves', async () => {
  const who = await market.agent()
  const ctx = market.ctx()
  const now = ctx.clock.now()
  const none = usdc(0n)
  const { id } = await commit(ctx, async (t, draw) => {
    const [service, participant] = [await t.table(services).get(human), await t.table(participants).get(who.id)]
    if (!service || !participant) throw new Error('no market')
    const { job, legs } = await openEscrowJob(t, draw, {
      service,
      terms: termsOf(service),
      payer: { wallet: participant.wallet, participant },
      payment: { id: 'bundled', receipt_id: draw.id('receipt'), method: 'balance', transaction: null, created_at: now },
      source: account.hold('bundled'),
      split: { agent: none, net: none, fee: none },
      input: {},
      baseUrl: market.market.url(),
      now,
    })
    await post(t, draw, { kind: 'escrow_hold', ref: { kind: 'job', id: job.id }, legs, at: now })
    return job
  })
  expect((await market.job(id)).escrow_status).toBe('none')
  const done = { status: 'completed', deliverables: { words: 3 } }
  await market.provider.call('POST', `/v1/jobs/${id}/update`, done)
  const disputed = await who.pay(`/v1/jobs/${id}/dispute`, { body: complaint })
  expect([disputed.body.status, disputed.body.dispute.status]).toEqual(['completed', 'recorded'])
  market.pass(2 * DAY_MS)
  await market.monitor()
  const { status, escrow_status, next_event } = await market.job(id)
  expect([status, escrow_status, next_event]).toEqual(['released', 'none', null])
})
