import { encodeAbiParameters, type Hex, keccak256, pad, toHex } from 'viem'
import { vi } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { type Attempt, accountAt, type Contract, startTestChain } from '../../ports/chain/evm/anvil/anvil.testkit.ts'
import { contracts } from '../../ports/chain/evm/contracts/artifacts.testkit.ts'
import { type EvmBench, openEvmBench, testChainFlags } from '../../ports/chain/evm/evm.testkit.ts'
import { escrowId } from '../../ports/chain/signature.ts'
import { contractMirror } from './contract.ts'
import { type DealRow, deals } from './rows.ts'

/* A marketplace whose jobs put their money into a contract of a real chain, and somebody beside it who calls it, too. */

/** Somebody else with every right on the contract, and somebody with none. */
export const [other, nobody] = [accountAt(5), accountAt(6)]
/** Blocks between the head and `safe`. */
export const EPOCH = 4
const timings = { pollMs: 20, followMs: 100, resendMs: 300 }
/** Real time in which what is due has to have happened. */
const WAIT = { timeout: 120_000, interval: 5 }

export type Bench = Awaited<ReturnType<typeof openBench>>

/** @param realMoney - the chain counts blocks as a public one does: `finalized` lies `2 * EPOCH` below its head */
export async function openBench({ realMoney = false } = {}) {
  const chain = await startTestChain([...testChainFlags, '--slots-in-an-epoch', String(EPOCH)])
  let evm: EvmBench | undefined
  const market: Escrow = await openEscrow({
    chain: async () => {
      evm ??= await openEvmBench(chain, realMoney ? { change: { mode: 'base', timings } } : {})
      return realMoney ? evm.asTest() : evm.chain
    },
  })
  if (!evm?.deployment.escrow) throw new Error('this chain has no escrow')
  const bench = evm
  const contract: Contract = { address: evm.deployment.escrow, abi: contracts.escrow.abi }
  for (const role of ['DEFAULT_ADMIN_ROLE', 'OPERATOR_ROLE', 'PAUSER_ROLE']) await grant(bench, contract.address, role)

  const dealOf = (id: string): Promise<DealRow | undefined> => market.ctx().store.table(deals).get(id)
  return {
    market,
    chain,
    evm: bench,
    contract,
    dealOf,
    /** A call of the contract by somebody beside the daemon. */
    call: (from: Hex, name: string, ...args: readonly unknown[]): Promise<Attempt> =>
      chain.attempt({ from, to: contract, name, args }),
    /** The same about a job. */
    contractCall: (from: Hex, name: string, job: string): Promise<Attempt> =>
      chain.attempt({ from, to: contract, name, args: [escrowId(job)] }),
    /** What somebody would put in. */
    deposit(from: Hex): Promise<Attempt> {
      const deadline = BigInt(bench.seconds()) + 86_400n
      const terms = { id: escrowId('job_else'), buyer: from, refundTo: from, net: 1n, fee: 1n, deadline }
      return chain.attempt({ from, to: contract, name: 'deposit', args: [terms] })
    },
    /** Waits until a deal is as it has to become. */
    until: (id: string, isSo: (deal: DealRow) => boolean): Promise<DealRow> =>
      vi.waitFor(async () => {
        const deal = await dealOf(id)
        if (deal && isSo(deal)) return deal
        throw new Error(
          `still ${JSON.stringify(deal, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
        )
      }, WAIT),
    look: () => contractMirror.of(market.ctx())?.look(),
    port() {
      const { escrow } = bench.chain
      if (!escrow) throw new Error('this chain has no escrow')
      return escrow
    },
    balanceOf: (who: Person): Promise<bigint> => bench.chain.balanceOf(toWallet(who.account.address)),
    async close() {
      await market.close()
      await bench.close()
      await chain.stop()
    },
  }
}

/** By the storage of the contract: the daemon's own key sends nothing that the daemon does not know of. */
async function grant({ rpc }: EvmBench, contract: Hex, name: string): Promise<void> {
  const role = name === 'DEFAULT_ADMIN_ROLE' ? pad('0x00', { size: 32 }) : keccak256(toHex(name))
  const ofRole = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [role, 0n]))
  const slot = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [other, ofRole]))
  await rpc('anvil_setStorageAt', contract, slot, pad('0x01', { size: 32 }))
}
