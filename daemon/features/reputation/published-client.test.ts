import { createPublicClient, http, keccak256, parseAbi, toBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetOfTests } from '../../../fixtures/kit/test-chain.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { countReputation, linkIdentity, ratedJob, walletOf } from '../../../fixtures/market/reputation-run.ts'
import { load as outside } from '../../../fixtures/outside/load.ts'
import { chainNetworks, networks } from '../../../src/core/authorization.ts'
import { checksumAddress } from '../../../src/core/hex.ts'

/*
 * What a marketplace writes into the registries is read back by a client of others, as they published it, that knows
 * nothing but the addresses (ERC-8004). There has to be a chain that others can read.
 */

const { chainId } = networks[chainNetworks.devnet]
/** Nobody answers there: the client's index of the public chain is not asked, and it reads the chain itself. */
const NO_INDEX = 'http://127.0.0.1:9/'

type Feedback = { reviewer: string; value: number; tags: string[]; fileURI?: string; isRevoked: boolean }
type PublishedClient = {
  getReputationSummary: (agent: string, tag1?: string) => Promise<{ count: number; averageValue: number }>
  getFeedback: (agent: string, client: string, index: number) => Promise<Feedback>
}

describe('a published ERC-8004 client', () => {
  let market: Escrow
  let client: PublishedClient
  let agent: string
  let job: string
  const rpcUrl = () => String(market.market.config.chainSetup?.rpcUrls?.[0])
  const chain = () => createPublicClient({ transport: http(rpcUrl()) })

  beforeAll(async () => {
    market = await openEscrow({ ticker: noTicks }, await devnetOfTests())
    market.hook.answer = () => ({ body: '{"words":3}' })
    const agentId = await linkIdentity(market.ctx(), market.provider)
    agent = `${chainId}:${agentId}`
    const service = await market.list('human', { name: 'By hand' })
    job = await ratedJob(market, { service, who: await market.agent(), rating: 4 })
    await countReputation(market.ctx())
    const { identityRegistry, reputationRegistry } = market.ctx().chain
    const addresses = { IDENTITY: identityRegistry.address, REPUTATION: reputationRegistry.address }
    const { SDK } = await outside('agent0-sdk')
    client = new SDK({
      chainId,
      rpcUrl: rpcUrl(),
      registryOverrides: { [chainId]: addresses },
      subgraphOverrides: { [chainId]: NO_INDEX },
    })
    // It looks for its registry when it sums up, and for single feedback takes what it found.
    await client.getReputationSummary(agent)
  })
  afterAll(() => market.close())

  test('finds whose the agent is, by the interface that it publishes', async () => {
    const { IDENTITY_REGISTRY_ABI: abi } = await outside('agent0-sdk')
    const args = [BigInt(agent.split(':')[1] ?? '')]
    const { address } = market.ctx().chain.identityRegistry
    const owner = await chain().readContract({ address, abi, functionName: 'ownerOf', args })
    expect(owner).toBe(checksumAddress(walletOf(market.provider)))
  })

  test('reads the stars that a buyer gave, and where they are told in full', async () => {
    const { reputationRegistry } = market.ctx().chain
    const given = await client.getFeedback(agent, reputationRegistry.client, 1)
    const uri = `${market.market.url()}/v1/reputation/feedback/${job}.json`
    expect(given).toMatchObject({ value: 90, tags: ['starred', 'human_service'], fileURI: uri, isRevoked: false })
    const file = await market.market.call('GET', new URL(uri).pathname)
    expect(file.body).toMatchObject({ agentId: Number(agent.split(':')[1]), tag1: 'starred', valueDecimals: 1 })
  })

  test('sums it up as the marketplace does', async () => {
    expect(await client.getReputationSummary(agent, 'starred')).toEqual({ count: 1, averageValue: 90 })
    expect(await client.getReputationSummary(agent, 'successRate')).toEqual({ count: 1, averageValue: 100 })
  })

  test('and the anchored verdict is the hash of the evidence that is served', async () => {
    const { verdictAnchors } = market.ctx().chain
    const abi = parseAbi([
      'event VerdictAnchored(bytes32 indexed subject, bytes32 indexed root, uint64 seq, string uri)',
    ])
    const [log] = await chain().getContractEvents({
      address: verdictAnchors.address,
      abi,
      eventName: 'VerdictAnchored',
      args: { subject: keccak256(toBytes(market.provider.id)) },
      fromBlock: 0n,
    })
    const evidence = await market.market.call('GET', new URL(log?.args.uri ?? '').pathname)
    expect(keccak256(toBytes(evidence.text))).toBe(log?.args.root)
  })
})
