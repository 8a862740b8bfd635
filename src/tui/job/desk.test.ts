import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { openKey } from '../../../daemon/ports/chain/key.ts'
import { buyer } from '../../../fixtures/payments/vectors.ts'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import type { WireAnswer } from '../../api/index.ts'
import { offered, receipted } from '../../client/spending/proofs.testkit.ts'
import { checksumAddress } from '../../core/hex.ts'
import { formatAmount, parseAmount, usdc } from '../../core/money.ts'
import { offerReceipt } from '../../core/offer-receipt.ts'
import { type Opened, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { bundle, job, jobId, jobsOf } from '../jobs/jobs.testkit.ts'
import { splitOf } from './dialogs.ts'

type Bundle = WireAnswer<'getJobBundle'>
const LIST = '/dashboard/api/admin/jobs'
const PAGE_DOWN = '\u001B[6~'

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

const audit = { pages: 120, format: 'PDF', site: 'https://example.com' }
const seller = await openKey('11'.repeat(32))
const { receipt } = (await receipted(seller))[offerReceipt].info
const proof = { offer: await offered(seller), receipt }

const asked = {
  input: audit,
  deliverables: [{ pages: 64, format: 'PDF', note: 'n'.repeat(30) }],
  dispute: { ...(job(1, 'disputed').dispute ?? ({} as never)), evidence: ['file_0000000000000001'], proof },
}

/** Two disputes with all that is known of them. */
async function disputes(size: { readonly columns: number; readonly rows: number }, payer = buyer.address) {
  const all = [job(1, 'disputed'), job(2, 'disputed'), job(3, 'refunded')]
  const whole = all.map((one) => {
    const payment = { ...examples.getJobBundle.answer.payment, payer } as Bundle['payment']
    const evidence = { ...bundle(one, asked), payment }
    const said = evidence.thread.messages?.[0]
    const messages = said && [said, { ...said, author_role: 'provider' as const, body: 'The \u001B[2Jsource had 64' }]
    return [`GET ${LIST}/${one.id}/bundle`, { ...evidence, thread: { ...evidence.thread, messages } }] as const
  })
  const link = market({
    [`GET ${LIST}`]: jobsOf(all),
    ...Object.fromEntries(whole),
    ...Object.fromEntries(all.map(({ id }) => [`POST ${LIST}/${id}/resolve`, { ...job(1, 'refunded'), id }])),
    'GET /.well-known/x402': { ...examples.getManifest.answer, signer: checksumAddress(seller.address) },
    'GET /v1/services/svc_0000000000000001': {
      ...examples.getService.answer,
      description: 'A report of 120 pages',
      estimated_delivery: '2 days',
      deliverable_schema: { type: 'object', properties: { pages: { type: 'integer' }, sum: {} }, required: ['sum'] },
    },
  })
  const opened = await openOn({ link, screen: 'jobs', ...size })
  open = opened
  await opened.advance(1_000)
  await opened.type('D')
  await opened.until(() => opened.text().includes('promised'))
  return { ...opened, link }
}

describe('a dispute', () => {
  it('shows what was promised beside what was delivered, and marks what differs or is missing', async () => {
    const { text } = await disputes({ columns: 160, rows: 50 })
    expect(text()).toContain('DECIDE A DISPUTE  Bot7 against Inkwell, $0.525')
    expect(text()).toMatch(/listing +A report of 120 pages/)
    expect(text()).toMatch(/pages +120 +≠ 64/)
    expect(text()).toMatch(/format +PDF {5,}PDF/)
    expect(text()).toMatch(/sum +✗ missing/)
    expect(text()).toContain('text is short')
  })

  it('has both statements, made safe, and what both parties did before', async () => {
    const { text } = await disputes({ columns: 160, rows: 50 })
    expect(text()).toContain('quality: "Half of it is missing"')
    expect(text()).toContain('"The \uFFFD[2Jsource had 64"')
    expect(text()).toMatch(/Bot7 +2 of 3 jobs disputed, 1 refunded/)
    expect(text()).toMatch(/Inkwell +2 of 3 jobs disputed, 1 refunded/)
  })

  it('says what the signed receipt of the buyer proves, or that it is invalid', async () => {
    const valid = await disputes({ columns: 160, rows: 50 })
    expect(valid.text()).toMatch(/proof: \$\S+ to 0x\w{40}, paid/)
    expect(valid.text()).toContain('(this marketplace)')
    valid.close()
    const { text } = await disputes({ columns: 160, rows: 50 }, seller.address)
    expect(text()).toMatch(/proof: invalid: it names another payer than 0x/)
  })

  it.each([
    [80, 24],
    [60, 18],
  ])('can be read to its end at %dx%d, with outcomes and button always shown', async (columns, rows) => {
    const { type, text } = await disputes({ columns, rows })
    const sees = () => text()
    for (let page = 0; page < 12 && !sees().includes('http://127.0.0.1'); page += 1) {
      expect(sees()).toMatch(/1 {2}refund .*\$0\.525/)
      expect(sees()).toMatch(/3 {2}split /)
      expect(sees()).toContain('Decide – needs an outcome')
      await type(PAGE_DOWN)
    }
    expect(sees()).toContain('http://127.0.0.1')
  })

  it('is followed by the next one, which no key of before has decided', async () => {
    const { type, text, link, until } = await disputes({ columns: 100, rows: 30 })
    await type('1late\ry')
    await until(() => text().includes('Now refunded: Bot7 gets $0.525 back') && text().includes('Cancel  esc'))
    const sent = () => link.calls.flatMap(({ method, path }) => (method === 'POST' ? [path.split('/')[5]] : []))
    expect(sent()).toEqual([jobId(1)])
    expect(text()).toContain('Decide – needs an outcome')
    await type('1late too\ry')
    await until(() => !text().includes('Cancel  esc'))
    expect(sent()).toEqual([jobId(1), jobId(2)])
  })
})

describe('the sums of a split', () => {
  const held = fc.record({
    amount: fc.bigInt({ min: 0n, max: 10n ** 15n }),
    fee: fc.bigInt({ min: 0n, max: 10n ** 9n }),
  })

  it('give away the whole hold, and are those of a release where the buyer gets nothing', () => {
    fc.assert(
      fc.property(held, fc.bigInt({ min: 0n, max: 10n ** 15n }), ({ amount, fee }, part) => {
        const [net, toBuyer] = [amount > fee ? amount - fee : 0n, amount === 0n ? 0n : part % (amount + 1n)]
        const one = job(1, 'disputed', { amount: formatAmount(amount), provider_amount: formatAmount(net) })
        const split = splitOf(one, formatAmount(toBuyer))
        expect((split?.buyer ?? 0n) + (split?.provider ?? 0n) + (split?.fee ?? 0n)).toBe(amount)
        expect(split?.buyer).toBe(toBuyer)
        expect(split?.fee).toBeGreaterThanOrEqual(0n)
        expect(splitOf(one, '0')?.provider).toBe(net)
        expect(splitOf(one, formatAmount(amount + 1n))).toBeUndefined()
        expect(parseAmount(one.amount ?? '')).toBe(usdc(amount))
      }),
      { numRuns: 100 },
    )
  })
})
