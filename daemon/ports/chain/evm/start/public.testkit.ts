import { encodeFunctionData } from 'viem'
import { circleUsdc, networks } from '../../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { accountAt, startTestChain, type TestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from '../contracts/artifacts.testkit.ts'
import { quantity } from '../rpc/values.ts'
import { factory } from './contracts.ts'
import { MULTICALL3, publicContracts } from './open.ts'

/* A public chain as far as a marketplace meets it: on this machine, with what stands there at the same addresses. */

const SLOT_OWNER = quantity(0n)
const WORD_CHARS = 64
const ETHER = 10n ** 18n

export type PublicChain = Awaited<ReturnType<typeof startPublicChain>>

export async function startPublicChain(mode: 'base' | 'base-sepolia', flags: readonly string[] = []) {
  const chain = await startTestChain(['--chain-id', String(networks[mode].chainId), ...flags])
  try {
    return await furnished(chain, mode)
  } catch (error) {
    await chain.stop()
    throw error
  }
}

async function furnished(chain: TestChain, mode: 'base' | 'base-sepolia') {
  const { asset, name, version } = circleUsdc[mode]
  const { identity, reputation } = publicContracts[mode]
  const { client } = chain
  const put = async (
    address: Wallet,
    artifact: Parameters<typeof chain.deploy>[0],
    args: readonly unknown[],
  ): Promise<void> => {
    const made = await chain.deploy(artifact, args)
    const code = await client.getCode({ address: made.address })
    if (code === undefined) throw new Error(`nothing was deployed for ${address}`)
    await client.setCode({ address, bytecode: code })
  }
  const owner = accountAt(1)
  await put(asset, contracts.testToken, [name, version, owner])
  await client.setStorageAt({
    address: asset,
    index: SLOT_OWNER,
    value: `0x${owner.slice(2).toLowerCase().padStart(WORD_CHARS, '0')}`,
  })
  await put(identity, contracts.identityRegistry, [owner])
  await put(reputation, contracts.reputationRegistry, [identity])
  await put(MULTICALL3, contracts.multicall3, [])
  await client.setCode({ address: factory.address, bytecode: factory.code })
  return {
    url: chain.url,
    asset,
    stop: chain.stop,
    /** Takes the code of a contract away. */
    bare: (address: Wallet) => client.setCode({ address, bytecode: '0x' }),
    giveGas: (address: Hex, wei = ETHER) => client.setBalance({ address, value: wei }),
    /** Micro-USDC of the chain's own token. */
    giveUsdc: async (wallet: Hex, amount: bigint): Promise<void> => {
      const data = encodeFunctionData({ abi: contracts.testToken.abi, functionName: 'mint', args: [wallet, amount] })
      await chain.sent({ from: owner, to: asset, data })
    },
    usdcOf: async (wallet: Hex): Promise<bigint> =>
      BigInt(String(await chain.read({ address: asset, abi: contracts.testToken.abi }, 'balanceOf', [wallet]))),
    /** Another token where the chain's own was. */
    rename: (other: string) => put(asset, contracts.testToken, [other, version, owner]),
    sentBy: (address: Hex) => client.getTransactionCount({ address }),
  }
}
