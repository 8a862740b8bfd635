import type { Wallet } from '../../../../../src/core/hex.ts'
import { ask } from '../anvil/process.ts'
import { bigIn, quantity } from '../rpc/values.ts'
import { factory } from './contracts.ts'

const ETHER = 10n ** 18n
/** What the gas key of a devnet has at a start at least, and what it is given where it has less. */
const LEAST = 1_000n * ETHER
const GIVEN = 1_000_000n * ETHER

/**
 * Makes a local chain ready for a gas key of ours: money for gas, and what makes contracts. Again at each start: a chain
 * that forgot its last blocks may have forgotten this.
 */
export async function prepareDevnet(url: string, gasKey: Wallet): Promise<void> {
  // The names that both anvil and hardhat know.
  const code = await ask(url, 'eth_getCode', factory.address, 'latest')
  if (code === '0x') await ask(url, 'hardhat_setCode', factory.address, factory.code)
  const held = bigIn(await ask(url, 'eth_getBalance', gasKey, 'latest'))
  if (held < LEAST) await ask(url, 'hardhat_setBalance', gasKey, quantity(GIVEN))
}
