import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { honest } from '../../fixtures/hostile/answers.ts'
import { type Hostile, openHostile, type Trick } from '../../fixtures/hostile/server.ts'
import { tricks } from '../../fixtures/hostile/tricks.ts'
import { isPayment, worthOf } from '../../fixtures/hostile/victim.ts'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openUserAtMarket, type User } from '../../fixtures/kit/user.ts'
import { groups } from '../../src/cli/run/groups.ts'
import { addRemote } from '../../src/client/remotes.ts'
import { keepApiKey } from '../../src/client/secrets.ts'
import { keepPolicy } from '../../src/client/spending/policy.ts'
import { createWallet } from '../../src/client/wallets.ts'
import { entries } from '../index.ts'

describe('at a living market', () => {
  let user: User
  beforeAll(async () => {
    user = await openUserAtMarket()
  })
  afterAll(() => user.close())

  const buy = ['buy', 'qr_code', '-i', 'data=hello']
  const set = (...words: string[]) => user.json('wallet', 'policy', 'set', ...words)
  /** A registered wallet with a balance, chosen from now on. */
  async function somebody(name: string): Promise<void> {
    await user.register(name, '5.00')
    await user.json('balance', 'deposit', '1.00', '--as', name)
  }
  /** What a marketplace says that a wallet paid for. */
  const bought = async (name: string) => (await user.json('jobs', 'list', '--as', name)).total

  test('both ways to pay are counted together, and the refusal names the rule and the command', async () => {
    await somebody('both')
    await set('both', '--per-day', '1.03')
    await user.json(...buy, '--as', 'both', '--pay', 'x402')
    await user.json(...buy, '--as', 'both', '--pay', 'balance')
    for (const how of ['x402', 'balance']) {
      const { code, err } = await user.souk(...buy, '--as', 'both', '--pay', how)
      expect(code).toBe(5)
      expect(err).toContain('The spend policy of wallet both forbids this')
      expect(err).toContain('rule: per_day')
      expect(err).toContain('→ souk wallet policy set both --per-day 1.04')
    }
    expect(await bought('both')).toBe(2)
    const { day, spends, sellers } = await user.json('wallet', 'spend', 'both')
    // Registration and deposit were signed for as well.
    expect(day).toEqual({ count: 4, agreed: '1.03', settled: '1.03', left: '0.00' })
    expect(spends[0]).toMatchObject({ amount: '0.01', state: 'settled', method: 'balance' })
    expect(sellers.map(({ name }: { name: string }) => name)).toEqual([
      'market@local',
      expect.stringMatching(/^p_[0-9a-f]{16}@local$/),
    ])
  })

  test('processes that pay at once never pass the limit of a day together', async () => {
    await user.json('wallet', 'new', 'many')
    await user.json('wallet', 'fund', 'many', '--amount', '5.00')
    await set('many', '--per-day', '0.025')
    const env = { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home }
    const codes = await Promise.all(
      ['x402', 'x402', 'x402', 'x402'].map(async (how) => {
        const child = spawn(process.execPath, [PROGRAM, ...buy, '--as', 'many', '--pay', how], { env, stdio: 'ignore' })
        return (await once(child, 'exit'))[0]
      }),
    )
    expect(codes.toSorted()).toEqual([0, 0, 5, 5])
    expect((await user.json('wallet', 'spend', 'many')).day).toMatchObject({ count: 2, agreed: '0.02' })
    expect((await user.json('wallet', 'fund', 'many', '--amount', '0.01')).balance).toBe('4.99')
  })

  test('a seller is limited and denied by what the listing says, whatever listing it is', async () => {
    await somebody('picky')
    const { provider_id: seller } = await user.json('services', 'view', 'qr_code')
    await set('picky', '--deny', seller)
    const denied = await user.souk(...buy, '--as', 'picky')
    expect([denied.code, denied.err]).toEqual([5, expect.stringContaining('rule: deny')])
    await set('picky', '--remove', seller, '--allow', 'market')
    const missing = await user.souk(...buy, '--as', 'picky')
    expect([missing.code, missing.err]).toEqual([5, expect.stringContaining(`--allow ${seller}@local`)])
    await set('picky', '--allow', seller, '--per-seller', '0.01')
    await user.json(...buy, '--as', 'picky')
    const again = await user.souk(...buy, '--as', 'picky')
    expect([again.code, again.err]).toEqual([5, expect.stringContaining('rule: per_seller')])
  })

  test('is not got around by another spelling of a path', async () => {
    await somebody('speller')
    const { id, provider_id: seller } = await user.json('services', 'view', 'qr_code')
    const spellings = ['?a=1', '/', ''].map((end) => `/v1/services/${id}/purchase${end}`)
    spellings.push(`/v1/services/${id.replace('_', '%5F')}/purchase`, `/v1/services/${id}/%70urchase`)
    const pay = (path: string) => user.souk('api', '-X', 'POST', path, '-f', 'data=x', '--as', 'speller', '--json')
    const rules = { deny: ['--deny', seller], allow: ['--remove', seller, '--allow', 'market'] }
    for (const [rule, words] of Object.entries(rules)) {
      await set('speller', ...words)
      for (const path of spellings.slice(0, 4)) {
        const { code, err } = await pay(path)
        expect([path, code, err]).toEqual([path, 5, expect.stringContaining(`rule: ${rule}`)])
      }
    }
    await set('speller', '--remove', 'market', '--per-seller', '0.015')
    const codes = []
    for (const path of spellings.slice(0, 4)) codes.push((await pay(path)).code)
    expect(codes).toEqual([0, 5, 5, 5])
    expect((await pay(spellings[4] as string)).code).not.toBe(0)
    expect((await user.json('wallet', 'spend', 'speller')).day).toMatchObject({ count: 3, agreed: '1.02' })
  })

  test('above the threshold nobody is asked without a terminal, and --yes is nobody', async () => {
    await somebody('careful')
    await set('careful', '--ask-above', '0.005')
    const { code, err } = await user.souk(...buy, '--as', 'careful', '--yes')
    expect(code).toBe(5)
    expect(err).toContain('$0.01 needs approval, and there is no terminal to ask on')
    expect(err).toContain('souk wallet policy set careful --ask-above 0.01')
    expect(await bought('careful')).toBe(0)
  })

  test('what the daemon here refused is given back once its signature has run out', async () => {
    await user.json('wallet', 'new', 'broke')
    await set('broke', '--per-day', '0.01')
    const env = { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home }
    const at = (now: number, ...words: string[]) => runLine({ entries, groups }, words, { env, now: () => now })
    const now = Date.now()
    expect((await at(now, ...buy, '--as', 'broke')).err).toContain('cannot cover')
    expect((await at(now, ...buy, '--as', 'broke')).err).toContain('rule: per_day')
    // Ten minutes are the longest validity that is ever signed.
    const tried = ['wallet', 'policy', 'test', '0.01', '--as', 'broke']
    expect((await at(now + 599_000, ...tried)).code).toBe(5)
    expect((await at(now + 601_000, ...tried)).code).toBe(0)
  })

  test('what would be stopped is told beforehand, with the exit code of a payment', async () => {
    await user.json('wallet', 'new', 'tried')
    await set('tried', '--per-payment', '0.50', '--deny', 'p_0123456789abcdef')
    expect(await user.json('wallet', 'policy', 'test', '0.50', '--as', 'tried')).toMatchObject({ allowed: true })
    const over = await user.souk('wallet', 'policy', 'test', '0.51', '--as', 'tried', '--json')
    expect([over.code, JSON.parse(over.out)]).toEqual([
      5,
      expect.objectContaining({
        allowed: false,
        rule: 'per_payment',
        change: 'souk wallet policy set tried --per-payment 0.51',
      }),
    ])
    const words = ['wallet', 'policy', 'test', '0.01', '--as', 'tried', '--seller', 'p_0123456789abcdef', '--json']
    const denied = await user.souk(...words)
    expect([denied.code, JSON.parse(denied.out)]).toEqual([5, expect.objectContaining({ rule: 'deny' })])
  })

  test('lists take a seller and a listing by name, and keep their ids', async () => {
    await somebody('listed')
    const fields = ['name=Listed thing', 'description=x', 'price=0.50', 'fulfillment_type=human']
    await user.json('services', 'create', ...fields.flatMap((field) => ['--set', field]), '--as', 'listed')
    await user.json('wallet', 'new', 'lister')
    const { participant_id } = await user.json('account', 'show', '--as', 'listed')
    const house = (await user.json('services', 'view', 'qr_code')).id
    const { policy } = await set('lister', '--allow', 'listed', '--deny', 'qr_code')
    expect([policy.allow, policy.deny]).toEqual([[`${participant_id}@local`], [`${house}@local`]])
  })

  test.each([
    [['--per-day', 'lots'], '--per-day must be an amount such as 5.00, or none'],
    [['--allow', 'p_short'], 'There is no seller, listing or instance "p_short"'],
    [['--deny', 'nobody@local'], 'is not a payee'],
    [['--deny', 'p_0123456789abcdef@locl'], 'There is no seller, listing or instance "locl" (did you mean local?)'],
    [[], 'Give at least one limit'],
  ])('%j is refused, and the policy stays', async (words, why) => {
    await user.json(
      'wallet',
      'new',
      `kept-${words.length}-${words[1] ?? ''}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, ''),
    )
    const before = await user.json('wallet', 'policy', 'show', 'tried')
    const { code, err } = await user.souk('wallet', 'policy', 'set', 'tried', ...words)
    expect([code, err]).toEqual([2, expect.stringContaining(why)])
    expect(await user.json('wallet', 'policy', 'show', 'tried')).toEqual(before)
  })

  test('a key that pays is not taken by hand: it would pass no limit', async () => {
    const { code, err } = await user.souk('api', 'discover', '-X', 'POST', '-H', 'X-Balance-Auth: sk_0')
    expect([code, err]).toEqual([2, expect.stringContaining('would bypass the spending limits of the wallet')])
  })
})

describe('against a server that means ill', () => {
  const DAY = 1_000_000n
  const JOB = 'job_0123456789abcdef'
  let hostile: Hostile
  let home: string
  beforeAll(async () => {
    hostile = await openHostile()
  })
  afterAll(() => hostile.close())
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-policy-'))
    const places = { config: join(home, 'config') }
    const wallet = await createWallet(places, { name: 'main', createdAt: new Date(0).toISOString() })
    addRemote(places, { name: 'evil', url: hostile.url, network: 'sandbox', assets: [] })
    keepApiKey(places, hostile.url, { wallet: wallet.address, key: `sk_${'0f'.repeat(20)}` })
    keepPolicy(places, wallet.address, { allow: [], deny: [], per_day: '1.00' })
    return () => rm(home, { recursive: true })
  })

  const env = () => ({ HOME: home, PATH: '', TMPDIR: home, SOUK_CONFIG_DIR: join(home, 'config'), SOUK_REMOTE: 'evil' })
  const run = (line: string) => runLine({ entries, groups }, line.split(' '), { env: env(), now: () => Date.now() })

  const failing: Trick = ({ origin, received }) =>
    isPayment(received) ? { status: 500, body: { error: 'no' } } : honest(origin, received, (value) => value)
  const silent: Trick = ({ origin, received }) =>
    isPayment(received)
      ? { body: (response: { destroy(): void }) => response.destroy() }
      : honest(origin, received, (value) => value)

  test.each([
    ['asks again and again', tricks['the same wall for ever'] as Trick],
    ['takes more than was agreed and says so', tricks['more taken than agreed'] as Trick],
    ['says that it failed', failing],
    ['hangs up once it has the payment', silent],
  ])('one that %s gets no more than the limit of a day, over all commands', async (_, trick) => {
    let worth = 0n
    const exits: number[] = []
    for (const how of ['x402', 'balance', 'x402', 'x402', 'x402']) {
      hostile.play(trick)
      exits.push((await run(`jobs verify ${JOB} --pay ${how} --timeout 5s`)).code)
      worth += hostile.received.filter(isPayment).reduce((sum, one) => sum + worthOf(one), 0n)
    }
    expect(worth).toBeGreaterThan(0n)
    expect(worth).toBeLessThanOrEqual(DAY)
    expect(exits.at(-1)).toBe(5)
    const { out } = await run('wallet spend --json')
    expect(BigInt(Math.round(Number(JSON.parse(out).day.agreed) * 1e6))).toBe(worth)
  })
})
