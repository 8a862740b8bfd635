import { parseEventLogs, zeroHash } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../../../src/core/hex.ts'
import { summaryOf } from '../../registries.ts'
import { accountAt, devAccounts, onTestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from './artifacts.testkit.ts'

const [registrar, agent, client, other] = [0, 1, 2, 3].map(accountAt) as [Hex, Hex, Hex, Hex]

const stage = onTestChain(async (chain) => {
  const identity = await chain.deploy(contracts.identityRegistry, [registrar])
  const reputation = await chain.deploy(contracts.reputationRegistry, [identity.address])
  return { identity, reputation }
})

/** @returns the error, or undefined when it went through. */
async function tried(from: Hex, on: 'identity' | 'reputation', [name, ...args]: readonly [string, ...unknown[]]) {
  const outcome = await stage().chain.attempt({ from, to: stage()[on], name, args })
  return outcome.ok ? undefined : outcome.error
}

const ask = (on: 'identity' | 'reputation', name: string, ...args: unknown[]) =>
  stage().chain.read(stage()[on], name, args)

type Said = { value: bigint; decimals?: number; tag1?: string; tag2?: string }
const say = (from: Hex, { value, decimals = 0, tag1 = 'starred', tag2 = '' }: Said) =>
  tried(from, 'reputation', ['giveFeedback', 0n, value, decimals, tag1, tag2, 'endpoint', 'uri', zeroHash])

describe('identities', () => {
  test('the first agent is number 0, owns itself and is paid at its wallet', async () => {
    const { chain, identity } = stage()
    const outcome = await chain.attempt({ from: agent, to: identity, name: 'register', args: ['https://a.example'] })
    if (!outcome.ok) throw new Error(outcome.error)
    const logs = parseEventLogs({ abi: contracts.identityRegistry.abi, logs: outcome.receipt.logs })
    expect(logs.map(({ eventName }) => eventName).sort()).toEqual([
      'MetadataSet',
      'MetadataUpdate',
      'Registered',
      'Transfer',
    ])
    const registered = logs.find(({ eventName }) => eventName === 'Registered')
    expect(registered?.args).toEqual({ agentId: 0n, agentURI: 'https://a.example', owner: agent })
    expect(await ask('identity', 'ownerOf', 0n)).toBe(agent)
    expect(await ask('identity', 'tokenURI', 0n)).toBe('https://a.example')
    expect(await ask('identity', 'getAgentWallet', 0n)).toBe(agent)
    expect(await ask('identity', 'getVersion')).toBe('2.0.0')
  })

  test('nobody has number 0 before it is registered', async () => {
    await expect(ask('identity', 'ownerOf', 0n)).rejects.toThrow('ERC721NonexistentToken')
  })

  test('only the owner, or whom it trusts, changes what an identity says', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    const acts = [
      ['setAgentURI', 0n, 'uri'],
      ['setMetadata', 0n, 'key', '0x01'],
      ['unsetAgentWallet', 0n],
    ] as const
    for (const act of acts) expect(await tried(other, 'identity', act)).toBe('Not authorized')
    expect(await ask('identity', 'isAuthorizedOrOwner', other, 0n)).toBe(false)
    expect(await tried(agent, 'identity', ['approve', other, 0n])).toBeUndefined()
    expect(await ask('identity', 'isAuthorizedOrOwner', other, 0n)).toBe(true)
    for (const act of acts) expect(await tried(other, 'identity', act)).toBeUndefined()
    expect(await ask('identity', 'getMetadata', 0n, 'key')).toBe('0x01')
    expect(await ask('identity', 'getAgentWallet', 0n)).toBe(`0x${'00'.repeat(20)}`)
  })

  test('the wallet of an agent is no free text', async () => {
    const entry = { metadataKey: 'agentWallet', metadataValue: '0x01' }
    expect(await tried(agent, 'identity', ['register', 'uri', [entry]])).toBe('reserved key')
    expect(await tried(agent, 'identity', ['register', 'uri', [{ ...entry, metadataKey: 'a' }]])).toBeUndefined()
    expect(await tried(agent, 'identity', ['setMetadata', 0n, 'agentWallet', '0x01'])).toBe('reserved key')
  })

  test('a sold identity is not paid at the wallet of its seller', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    expect(await tried(agent, 'identity', ['transferFrom', agent, other, 0n])).toBeUndefined()
    expect(await ask('identity', 'getAgentWallet', 0n)).toBe(`0x${'00'.repeat(20)}`)
  })

  test('only the registrar registers for others', async () => {
    expect(await tried(other, 'identity', ['registerFor', agent])).toBe('Not authorized')
    expect(await tried(registrar, 'identity', ['registerFor', agent])).toBeUndefined()
    expect(await ask('identity', 'ownerOf', 0n)).toBe(agent)
  })

  test('a wallet is set by its own signature, for this agent and owner, and for five minutes', async () => {
    const { chain, identity } = stage()
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    const now = (await chain.client.getBlock()).timestamp
    const agreed = (deadline: bigint, owner: Hex = agent) =>
      devAccounts[3]?.signTypedData({
        domain: { name: 'ERC8004IdentityRegistry', version: '1', chainId: 31_337, verifyingContract: identity.address },
        types: {
          AgentWalletSet: [
            { name: 'agentId', type: 'uint256' },
            { name: 'newWallet', type: 'address' },
            { name: 'owner', type: 'address' },
            { name: 'deadline', type: 'uint256' },
          ],
        },
        primaryType: 'AgentWalletSet',
        message: { agentId: 0n, newWallet: other, owner, deadline },
      })
    const set = async (deadline: bigint, signature: unknown) =>
      tried(agent, 'identity', ['setAgentWallet', 0n, other, deadline, signature])
    expect(await set(now - 1n, await agreed(now - 1n))).toBe('expired')
    expect(await set(now + 1_000n, await agreed(now + 1_000n))).toBe('deadline too far')
    expect(await set(now + 200n, await agreed(now + 200n, client))).toBe('invalid wallet sig')
    expect(await set(now + 200n, await agreed(now + 200n))).toBeUndefined()
    expect(await ask('identity', 'getAgentWallet', 0n)).toBe(other)
  })
})

describe('reputation', () => {
  test('sums up as the reference registry does', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    const summary = (tag1: string, tag2: string) => ask('reputation', 'getSummary', 0n, [client, other], tag1, tag2)
    expect(await summary('', '')).toEqual([0n, 0n, 0])
    expect(await say(client, { value: 87n, tag2: 'data_api' })).toBeUndefined()
    expect(await say(client, { value: 9_000n, decimals: 2 })).toBeUndefined()
    expect(await summary('starred', '')).toEqual([2n, 88n, 0])
    expect(await summary('starred', 'data_api')).toEqual([1n, 87n, 0])
    expect(await say(other, { value: 1n, tag1: 'reachable', tag2: 'data_api' })).toBeUndefined()
    expect(await summary('', 'data_api')).toEqual([2n, 44n, 0])
    expect(await summary('starred', 'nothing')).toEqual([0n, 0n, 0])
  })

  test('sums up as the sandbox does, with values below zero and of many decimals', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    const said = [
      { value: -7n, decimals: 3 },
      { value: 10n ** 38n, decimals: 18 },
      { value: -(10n ** 30n), decimals: 18 },
      { value: 1n, decimals: 3 },
    ]
    for (const one of said) expect(await say(client, one)).toBeUndefined()
    const expected = summaryOf(said.map(({ value, decimals }) => ({ value, value_decimals: decimals })))
    const got = await ask('reputation', 'getSummary', 0n, [client], '', '')
    expect(got).toEqual([expected.count, expected.value, expected.valueDecimals])
  })

  test('refuses praise of oneself, of nobody, and beyond the bounds', async () => {
    expect(await say(client, { value: 1n })).toBe('0x7e273289')
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    expect(await say(agent, { value: 1n })).toBe('Self-feedback not allowed')
    expect(await tried(agent, 'identity', ['setApprovalForAll', other, true])).toBeUndefined()
    expect(await say(other, { value: 1n })).toBe('Self-feedback not allowed')
    expect(await say(client, { value: 1n, decimals: 19 })).toBe('too many decimals')
    expect(await say(client, { value: 10n ** 38n + 1n })).toBe('value too large')
    expect(await tried(client, 'reputation', ['getSummary', 0n, [], '', ''])).toBe('clientAddresses required')
  })

  test('what is revoked does not count, and is revoked once and by its author', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    for (const value of [10n, 20n]) expect(await say(client, { value })).toBeUndefined()
    expect(await tried(other, 'reputation', ['revokeFeedback', 0n, 1n])).toBe('index out of bounds')
    expect(await tried(client, 'reputation', ['revokeFeedback', 0n, 0n])).toBe('index must be > 0')
    expect(await tried(client, 'reputation', ['revokeFeedback', 0n, 1n])).toBeUndefined()
    expect(await tried(client, 'reputation', ['revokeFeedback', 0n, 1n])).toBe('Already revoked')
    expect(await ask('reputation', 'getSummary', 0n, [client], '', '')).toEqual([1n, 20n, 0])
    expect(await ask('reputation', 'readFeedback', 0n, client, 1n)).toEqual([10n, 0, 'starred', '', true])
    expect(await ask('reputation', 'getLastIndex', 0n, client)).toBe(2n)
    expect(await ask('reputation', 'getClients', 0n)).toEqual([client])
  })

  test('reads all of it in parallel lists', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    expect(await say(client, { value: 1n })).toBeUndefined()
    expect(await say(other, { value: 2n, tag2: 't' })).toBeUndefined()
    expect(await tried(client, 'reputation', ['revokeFeedback', 0n, 1n])).toBeUndefined()
    const all = [
      [client, other],
      [1n, 1n],
      [1n, 2n],
      [0, 0],
      ['starred', 'starred'],
      ['', 't'],
      [true, false],
    ]
    expect(await ask('reputation', 'readAllFeedback', 0n, [], '', '', true)).toEqual(all)
    const kept = [[other], [1n], [2n], [0], ['starred'], ['t'], [false]]
    expect(await ask('reputation', 'readAllFeedback', 0n, [client, other], '', '', false)).toEqual(kept)
  })

  test('counts the answers to what was said', async () => {
    expect(await tried(agent, 'identity', ['register'])).toBeUndefined()
    expect(await say(client, { value: 1n })).toBeUndefined()
    const answer = (from: Hex, index: bigint, uri: string) =>
      tried(from, 'reputation', ['appendResponse', 0n, client, index, uri, zeroHash])
    expect(await answer(agent, 2n, 'uri')).toBe('index out of bounds')
    expect(await answer(agent, 1n, '')).toBe('Empty URI')
    for (const from of [agent, agent, other]) expect(await answer(from, 1n, 'uri')).toBeUndefined()
    const count = (who: Hex, index: bigint, by: readonly Hex[]) =>
      ask('reputation', 'getResponseCount', 0n, who, index, by)
    expect(await count(client, 1n, [])).toBe(3n)
    expect(await count(client, 0n, [agent])).toBe(2n)
    expect(await count(`0x${'00'.repeat(20)}`, 0n, [other])).toBe(1n)
  })
})
