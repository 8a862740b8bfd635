import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entries } from '../../commands/index.ts'
import { anvilProgram } from '../../daemon/ports/chain/evm/anvil/anvil.testkit.ts'
import { type Ran, runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { groups } from '../cli/run/groups.ts'
import { isAlive } from '../client/process.ts'

/*
 * The real program: a daemon in a process of its own on a chain in another, both of them killed.
 * @deep processes and chains for every case
 */

let home: string
let data: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-chain-'))
  data = join(home, '.local/share/souk/default')
})
afterEach(async () => {
  await souk('down', '--all', '--force')
  // A child that just ended may still be writing its compile cache.
  await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
})

function souk(...words: string[]): Promise<Ran> {
  return runLine({ entries, groups }, words, {
    env: { HOME: home, PATH: `${process.env.PATH}${delimiter}${dirname(anvilProgram())}`, TMPDIR: home },
    self: [process.execPath, PROGRAM],
    now: () => Date.now(),
  })
}
async function json(...words: string[]) {
  const { code, out, err } = await souk(...words, '--json')
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
  return JSON.parse(out)
}
const buy = () => json('buy', 'qr_code', '-i', 'data=one')
/** What the wallet holds on the chain, once it was given a cent. */
const held = async () => (await json('wallet', 'fund', '--amount', '0.01')).balance
const chainPid = () => Number(readFileSync(join(data, 'chain', 'chain.pid'), 'utf8'))

describe('a devnet', () => {
  it('sells over a real chain, and a kill of the daemon or of the chain loses no cent', async () => {
    const { pid, chain } = await json('up', '--chain', 'devnet', '--port', '0')
    expect(chain).toBe('devnet')
    await json('wallet', 'new', 'main')
    await json('wallet', 'fund', '--amount', '1.00')
    await buy()
    expect(await held()).toBe('1.00')
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => isAlive(pid)).toBe(false)
    // It is the chain that the data began on, said or not.
    const again = await json('up', '--port', '0')
    expect(again).toMatchObject({ chain: 'devnet', recovered: true })
    expect(await held()).toBe('1.01')
    const killed = chainPid()
    await buy()
    process.kill(killed, 'SIGKILL')
    // While the chain is away nothing is charged; the same purchase is sent again, and paid once.
    const repeated = ['buy', 'qr_code', '-i', 'data=two', '--idempotency-key', 'after-the-kill']
    await expect.poll(async () => (await souk(...repeated)).code).toBe(0)
    expect(chainPid()).not.toBe(killed)
    // What the chain forgot is sent again: then it is what the books say.
    await expect.poll(async () => (await json('money', 'audit')).ok).toBe(true)
    expect(await held()).toBe('1.00')
    const restarted = await souk('restart', '--log-level', 'warn')
    expect([restarted.code, restarted.err]).toEqual([0, ''])
    await souk('down')
    expect((await souk('up', '--chain', 'sandbox', '--port', '0')).err).toMatch(/was created with --chain devnet/)
  })

  it('sells in one command to whoever starts with nothing', async () => {
    const { code, out, err } = await souk('tour', '--chain', 'devnet')
    expect([code, err]).toEqual([0, expect.any(String)])
    expect(out).toContain('chain devnet')
    // What began there goes on there, without saying so.
    const again = await souk('tour')
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('$ souk up --chain devnet')])
    await buy()
    expect((await json('money', 'audit')).ok).toBe(true)
  })

  it('that lost its chain says so and changes nothing', async () => {
    await json('up', '--chain', 'devnet', '--port', '0')
    const devnet = async () => (await json('doctor', '--only', 'devnet')).checks[0]
    expect(await devnet()).toMatchObject({ status: 'ok', detail: expect.stringContaining('chain') })
    await souk('down')
    const large = join(data, 'chain', 'large')
    writeFileSync(large, '')
    truncateSync(large, 201 * 1024 ** 2)
    expect(await devnet()).toMatchObject({ status: 'warning', detail: expect.stringContaining('souk reset') })
    await rm(join(data, 'chain'), { recursive: true })
    expect((await souk('up', '--port', '0')).err).toMatch(/The chain data of this devnet is missing.*souk reset/)
  })
})

describe('what cannot hold together starts nothing', () => {
  const keys = ['--pay-to-key-file', 'a', '--gas-key-file', 'b']
  const node = ['--rpc-url', 'https://node.example.org']
  it.each([
    ['a demo on a chain', ['--chain', 'devnet', '--seed', 'demo'], /demo needs a sandbox chain/],
    ['a program for a sandbox', ['--anvil', '/bin/anvil'], /--anvil is only for a local devnet/],
    [
      'blocks of a chain of others',
      ['--chain', 'devnet', ...node, '--block-time', '2'],
      /--block-time is only for a local devnet/,
    ],
    ['a node for a sandbox', node, /--rpc-url needs a chain; a sandbox has none/],
    ['keys of money on a devnet', ['--chain', 'devnet', ...keys], /A devnet creates its own keys/],
    [
      'a facilitator of others for a sandbox',
      ['--settle-through', 'https://facilitator.example.org'],
      /--settle-through needs a chain; a sandbox has none/,
    ],
    [
      'real payments shown in the clear',
      ['--chain', 'base', ...node, ...keys, '--settle-through', 'http://facilitator.example.org'],
      /With real money, --settle-through must be an https URL/,
    ],
    ['no node', ['--chain', 'base', ...keys], /needs --rpc-url: there is no default/],
    ['no keys', ['--chain', 'base-sepolia', ...node], /needs --pay-to-key-file/],
    ['a sample of sanctions', ['--chain', 'base', ...node, ...keys], /a real sanctions list/],
    [
      'a node in the clear',
      ['--chain', 'base', '--rpc-url', 'http://node.example.org', ...keys],
      /must be an https URL/,
    ],
    ['no program', ['--chain', 'devnet', '--anvil', '/nowhere/anvil', '--port', '0'], /not an executable program/],
  ])('%s', async (_, words, why) => {
    const { code, err } = await souk('up', ...words)
    expect(code).not.toBe(0)
    expect(err).toMatch(why)
  })

  it('real money that nobody agreed to, and keys that others can read', async () => {
    const key = (name: string, digit: string, mode: number) => {
      const file = join(home, name)
      writeFileSync(file, `0x${digit.repeat(64)}\n`, { mode })
      return file
    }
    const server = await nodeOn(8_453)
    const { port } = server.address() as AddressInfo
    const words = ['--chain', 'base', '--rpc-url', `http://127.0.0.1:${port}`, '--sdn-source', 'sdn.xml', '--port', '0']
    const files = ['--pay-to-key-file', key('pay', '1', 0o600), '--gas-key-file', key('gas', '2', 0o644)]
    try {
      expect((await souk('up', ...words, ...files, '--no-input')).err).toMatch(/--real-money/)
      expect((await souk('up', ...words, ...files, '--real-money')).err).toMatch(
        /gas-key-file.*readable by other users/,
      )
      const same = ['--pay-to-key-file', key('one', '3', 0o600), '--gas-key-file', key('two', '3', 0o600)]
      expect((await souk('up', ...words, ...same, '--real-money')).err).toMatch(/The same key would receive/)
      const poor = ['--pay-to-key-file', key('p', '4', 0o600), '--gas-key-file', key('g', '5', 0o600)]
      expect((await souk('up', ...words, ...poor, '--real-money')).err).toMatch(/has 0 wei/)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})

/** A node of a chain without anything on it. */
async function nodeOn(chainId: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const asked: { id: number; method: string }[] = [JSON.parse(Buffer.concat(chunks).toString())].flat()
    const timestamp = `0x${Math.floor(Date.now() / 1_000).toString(16)}`
    const says: Record<string, unknown> = {
      eth_chainId: `0x${chainId.toString(16)}`,
      eth_getBlockByNumber: { number: '0x1', hash: `0x${'11'.repeat(32)}`, timestamp, baseFeePerGas: '0x1' },
      eth_getBalance: '0x0',
      eth_gasPrice: '0x1',
    }
    response.setHeader('content-type', 'application/json')
    const answers = asked.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: says[method] ?? null }))
    response.end(JSON.stringify(answers))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
