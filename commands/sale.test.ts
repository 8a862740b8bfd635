import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readQr } from '../fixtures/kit/qr.ts'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

/* A buyer at a real, detached daemon: prices, payments, limits and what is delivered. */

let user: User
let home: string

beforeAll(async () => {
  user = await openUserAtMarket()
  home = user.home
  await json('wallet', 'new', 'rich')
  await json('wallet', 'new', 'poor')
  await json('wallet', 'fund', 'rich', '--amount', '5.00')
})

afterAll(() => user.close())

const souk = (...words: string[]) => user.souk(...words)
const json = (...words: string[]) => user.json(...words)

const buy = (...more: string[]) => ['buy', 'qr_code', '-i', 'data=hello', ...more]

describe('buying', () => {
  it('pays by signature, and saves a picture that says what was ordered', async () => {
    const folder = join(home, 'pictures')
    const bought = await json(...buy('--save', folder))
    expect(bought).toMatchObject({ status: 'completed', payment: { method: 'x402', amount: '0.01', asset: 'USDC' } })
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.png'))
    expect(readQr(readFileSync(join(folder, file)))).toBe('hello')
  })

  it('reads its job back without an account and without paying again', async () => {
    const { job_id } = await json(...buy())
    const job = await json('jobs', 'view', job_id)
    expect(job).toMatchObject({ job_id, status: 'completed', amount: '0.01' })
    expect(job.deliverables).toHaveLength(1)
  })

  it('never pays twice for one idempotency key', async () => {
    const key = 'the-same-key'
    const first = await json(...buy('--idempotency-key', key))
    const again = await json(...buy('--idempotency-key', key))
    expect(again.job_id).toBe(first.job_id)
    expect(again.payment.receipt_id).toBe(first.payment.receipt_id)
    const before = (await json('wallet', 'fund', 'rich', '--amount', '0.01')).balance
    await json(...buy('--idempotency-key', key))
    const after = (await json('wallet', 'fund', 'rich', '--amount', '0.01')).balance
    expect(Number(after)).toBeCloseTo(Number(before) + 0.01, 6)
  })

  it('types the input by the schema, from words and from a file', async () => {
    const file = join(home, 'input.json')
    writeFileSync(file, JSON.stringify({ data: 'from a file', size: 99 }))
    const { result } = await json('buy', 'qr_code', '--input-file', file, '-i', 'size=120', '-i', 'format=svg')
    expect(result.qr_code).toMatchObject({ format: 'svg', width: 120 })
  })
})

describe('nothing is paid', () => {
  const spent = async () => (await json('wallet', 'fund', 'rich', '--amount', '0.01')).balance as string

  it.each([
    [buy('--quote'), 0, ''],
    [buy('--dry-run'), 0, ''],
    [buy('--pay', 'none'), 5, '--pay none forbids paying'],
    [buy('--pay', 'balance', '--as', 'poor'), 5, 'No balance'],
    [buy('--max-price', '0.005'), 5, 'above the limit of $0.005'],
    [buy('--as', 'poor'), 5, 'was not made: The wallet cannot cover'],
    [buy('--as', 'nobody'), 2, 'There is no wallet nobody'],
    [['buy', 'qr_code'], 2, '"QR code" needs data'],
    [buy('-i', 'size=9000'), 2, 'size'],
    [buy('-i', 'colour=red'), 2, 'colour'],
    [['buy', 'qr_cod', '-i', 'data=x'], 3, 'did you mean qr_code?'],
    [['buy', 'svc_0000000000000000', '-i', 'data=x'], 3, 'not found'],
  ])('by souk %j', async (words, exit, why) => {
    const before = await spent()
    const { code, err } = await souk(...words)
    expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(why) })
    expect(Number(await spent())).toBeCloseTo(Number(before) + 0.01, 6)
  })

  it('shows what a dry run holds back, without a signature', async () => {
    const { request } = await json(...buy('--dry-run'))
    expect(request).toMatchObject({ method: 'POST', body: { data: 'hello' }, price: '$0.01' })
    expect(request.headers).not.toMatch(/payment/i)
  })
})

describe('the tour', () => {
  it('walks through a sale, twice, as the commands that it shows', async () => {
    for (const round of [1, 2]) {
      const { code, out, err } = await souk('tour')
      expect({ round, code, err: code === 0 ? '' : err }).toEqual({ round, code: 0, err: '' })
      for (const part of ['$ souk up', '$ souk buy qr_code', 'paid $0.01 by x402', 'saved', '$ souk jobs view job_']) {
        expect(out).toContain(part)
      }
      expect(out).not.toContain('npm link')
    }
  })

  it('ends with the line that puts souk on the path, where it was not found there', async () => {
    const { out } = await user.soukWith({ program: 'npx souk' }, 'tour')
    const [last, ...others] = out.trimEnd().split('\n').toReversed()
    expect(last).toMatch(/^ {2}npm link {2,}.*"souk" works in every folder/)
    expect(others.slice(0, 8).every((line) => line.startsWith('  npx souk '))).toBe(true)
  })
})

describe('from the balance and from the wallet', () => {
  it('buys the same thing for the same price, from another account', async () => {
    const config = ['--as', 'rich']
    await json('account', 'register', '--name', 'Rich', ...config)
    const { balance } = await json('balance', 'deposit', '0.50', ...config)
    const byBalance = await json(...buy('--pay', 'balance', ...config))
    const bySignature = await json(...buy('--pay', 'x402', ...config))
    expect(byBalance.payment).toMatchObject({ method: 'balance', amount: bySignature.payment.amount })
    expect(byBalance.result).toEqual(bySignature.result)
    expect((await json('balance', 'show', ...config)).available).toBe((Number(balance) - 0.01).toFixed(2))
    expect((await json('balance', 'history', ...config)).entries.map((one: { type: string }) => one.type)).toEqual([
      'purchase',
      'deposit',
    ])
    expect((await json('jobs', 'list', ...config)).total).toBeGreaterThanOrEqual(2)
    expect((await json('money', 'audit')).ok).toBe(true)
  })
})
