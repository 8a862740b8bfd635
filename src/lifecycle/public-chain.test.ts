import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entries } from '../../commands/index.ts'
import { type PublicChain, startPublicChain } from '../../daemon/ports/chain/evm/start/public.testkit.ts'
import { type Ran, type RunOptions, runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { groups } from '../cli/run/groups.ts'

/*
 * The real program on a chain with the number, the token and the contracts of a public one, on this machine.
 * @deep a chain of its own for each start
 */

const SDN = join(import.meta.dirname, '../../fixtures/sdn/sample.xml')
const payTo = `0x${'1'.repeat(64)}` as const
const gas = `0x${'2'.repeat(64)}` as const
const DOLLAR = 1_000_000n
let home: string
let chain: PublicChain | undefined

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-public-'))
})
afterEach(async () => {
  await souk(['down', '--all', '--force'])
  await chain?.stop()
  chain = undefined
  // A child that just ended may still be writing its compile cache.
  await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
})

function souk(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return runLine({ entries, groups }, words, {
    env: { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home },
    self: [process.execPath, PROGRAM],
    now: () => Date.now(),
    ...options,
  })
}
async function json(...words: string[]) {
  const { code, out, err } = await souk([...words, '--json'])
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
  return JSON.parse(out)
}
function keyFile(name: string, key: string): string {
  const file = join(home, name)
  writeFileSync(file, `${key}\n`, { mode: 0o600 })
  return file
}
const files = () => ['--pay-to-key-file', keyFile('pay-to', payTo), '--gas-key-file', keyFile('gas', gas)]
const addressOf = (key: `0x${string}`) => privateKeyToAccount(key).address

/** Buys, and gives how much of a dollar the buyer has left on the chain and what the marketplace has. */
async function sold(at: PublicChain) {
  const { address } = await json('wallet', 'new', 'main')
  const poor = await souk(['buy', 'qr_code', '-i', 'data=one'])
  expect([poor.code, poor.err]).toEqual([5, expect.stringContaining('cannot cover the price')])
  // Nobody here can give such money away.
  expect(poor.err).toMatch(/real money: send USDC on base(-sepolia)? to that address/)
  expect(poor.err).not.toContain('wallet fund')
  await at.giveUsdc(address, DOLLAR)
  await json('buy', 'qr_code', '-i', 'data=one')
  return { address, price: DOLLAR - (await at.usdcOf(address)) }
}

describe('a marketplace on base-sepolia', () => {
  it('sells for the token of that chain, again after a restart, with the first of its nodes away', async () => {
    chain = await startPublicChain('base-sepolia')
    await chain.giveGas(addressOf(gas))
    const nodes = ['--rpc-url', 'http://127.0.0.1:1', '--rpc-url', chain.url]
    await json('up', '--chain', 'base-sepolia', '--port', '0', ...files(), ...nodes)
    const { address, price } = await sold(chain)
    expect(price).toBeGreaterThan(0n)
    expect(await chain.usdcOf(addressOf(payTo))).toBe(price)
    expect((await json('restart')).state).toBe('running')
    await json('buy', 'qr_code', '-i', 'data=two')
    expect(await chain.usdcOf(address)).toBe(DOLLAR - 2n * price)
    expect(await json('money', 'audit')).toMatchObject({ ok: true })
    expect((await souk(['wallet', 'fund', 'main'])).code).not.toBe(0)
  })
})

describe('a backup of it', () => {
  it('names the keys that it does not hold; restored, it sells on and its books follow the chain', async () => {
    chain = await startPublicChain('base-sepolia', ['--block-time', '1', '--mixed-mining', '--slots-in-an-epoch', '1'])
    await chain.giveGas(addressOf(gas))
    const up = ['up', '--chain', 'base-sepolia', '--port', '0', ...files(), '--rpc-url', chain.url]
    await json(...up)
    const { address, price } = await sold(chain)
    const file = join(home, 'market.tar')
    const keys = { chain: 'base-sepolia', gas: addressOf(gas), pay_to: addressOf(payTo) }
    expect((await json('admin', 'backup', file)).keys).toEqual(keys)
    await json('buy', 'qr_code', '-i', 'data=after the backup')
    await souk(['down'])
    const restored = await souk(['restore', file, '--force'])
    expect(restored.out).toMatch(/0x[0-9a-f]{40} +--gas-key-file: sends all.*\n.*0x[0-9a-f]{40} +--pay-to-key-file/i)
    expect((await souk(up)).code).toBe(0)
    await json('buy', 'qr_code', '-i', 'data=after the restore')
    expect(await chain.usdcOf(address)).toBe(DOLLAR - 3n * price)
    await expect.poll(async () => (await souk(['money', 'audit', '--exit-status'])).code, { timeout: 120_000 }).toBe(0)
    const { items } = await json('attention')
    expect(items.filter(({ kind }: { kind: string }) => kind === 'payout')).toMatchObject([
      {
        sentence: expect.stringContaining('paid after the backup'),
        who: expect.stringMatching(new RegExp(address, 'i')),
      },
    ])
  })
})

describe('a marketplace on base', () => {
  it('starts for whoever types that the money is real, says so everywhere, and sells', async () => {
    chain = await startPublicChain('base')
    const up = ['up', '--chain', 'base', '--port', '0', '--sdn-source', SDN, ...files(), '--rpc-url', chain.url]
    const asked: string[] = []
    const typing = (words: string) => (question: string) => {
      asked.push(question)
      return words
    }
    // A start that was refused has agreed to nothing.
    const poor = await souk(up, { columns: 100, answer: typing('real money') })
    expect([poor.code, poor.err]).toEqual([expect.any(Number), expect.stringContaining('too little for a payment')])
    await chain.giveGas(addressOf(gas))
    const unsure = await souk(up, { columns: 100, answer: typing('yes') })
    expect([unsure.code, unsure.err]).toEqual([2, expect.stringContaining('Nothing was started')])
    const sure = await souk(up, { columns: 100, answer: typing('real money') })
    expect(asked.join()).toContain('real USDC. Type "real money"')
    expect([sure.code, sure.out]).toEqual([0, expect.stringContaining('REAL MONEY')])
    expect((await souk(['status'])).out).toContain('REAL MONEY')
    expect((await souk(['tour'])).err).toContain('The tour needs test money, but this marketplace is on base.')
    const { price } = await sold(chain)
    expect(await chain.usdcOf(addressOf(payTo))).toBe(price)
    // Asked once: what began with real money goes on with it.
    await souk(['down'])
    expect((await souk(up)).code).toBe(0)
    // People were told whom to pay, and contracts obey a key: neither changes under them.
    await souk(['down'])
    writeFileSync(join(home, 'pay-to'), `0x${'3'.repeat(64)}\n`)
    expect((await souk(['up', '--port', '0'])).err).toMatch(/--pay-to-key-file .*has the key of.*put that key into/)
  })
})

describe('a start on a public chain is refused', () => {
  const start = async (at: PublicChain) => {
    await at.giveGas(addressOf(gas))
    const { code, err } = await souk([
      ...['up', '--chain', 'base-sepolia', '--port', '0', '--rpc-url', at.url],
      ...files(),
    ])
    expect(code).not.toBe(0)
    return err
  }

  it('where the token is not there, or another one, before any gas is spent', async () => {
    chain = await startPublicChain('base-sepolia')
    await chain.rename('Another Coin')
    expect(await start(chain)).toMatch(/another signing domain; expected USDC version 2/)
    await chain.bare(chain.asset)
    expect(await start(chain)).toMatch(/does not exist on this chain.*use a node/)
    expect(await chain.sentBy(addressOf(gas))).toBe(0)
  })

  it('where no node answers, or one of another chain does', async () => {
    chain = await startPublicChain('base')
    expect(await start(chain)).toMatch(/on chain 8453, and --chain base-sepolia is chain 84532/)
    await chain.stop()
    expect(await start({ ...chain, giveGas: async () => undefined })).toMatch(/No chain node responds.*--rpc-url/)
  })
})
