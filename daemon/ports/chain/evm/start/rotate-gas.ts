import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { chainNetworks } from '../../../../../src/core/authorization.ts'
import { AppError } from '../../../../../src/core/error.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { compact } from '../../../../../src/core/record.ts'
import type { OrderOutcome } from '../queue/queue.ts'
import { type AbiMethod, encodeCall, method } from '../rpc/abi.ts'
import { RpcUnavailableError } from '../rpc/values.ts'
import { deploy, planOwn } from './contracts.ts'
import { changeKey, type Keyed, nextKey, signerOf, takePlace } from './key-rows.ts'
import { type EvmStart, lockGasKey } from './keys.ts'
import { chainHomes, type OperatorKeyRow } from './rows.ts'

const GWEI = 1_000_000_000n
/** ETH that stays with a replaced key, in wei: a rollup takes a fee for each transaction beside its gas. */
const LEFT_WEI = 20_000n * GWEI
/** Gas of a transaction that only moves ETH, also to an address with code. */
const MOVE_GAS = 30_000
/** Gas for which the replaced key keeps ETH until its transactions are final, in case that they are sent again. */
const KEPT_GAS = 500_000n
/** Name in `chain_homes.contracts` of the contract in which a replaced gas key anchored verdicts. */
export const anchorsName = (gasKey: Wallet) => `anchors:${gasKey}`

const grantRole = method('grantRole', ['bytes32', 'address'], [])
const revokeRole = method('revokeRole', ['bytes32', 'address'], [])
const transferOwnership = method('transferOwnership', ['address'], [])
const setRegistrar = method('setRegistrar', ['address'], [])
const roleOf = (name: string): Hex => `0x${bytesToHex(keccak_256(utf8ToBytes(name)))}`
/** Roles of the gas key in an escrow contract. The one that grants them is taken last. */
const roles: readonly Hex[] = [roleOf('OPERATOR_ROLE'), roleOf('PAUSER_ROLE'), `0x${'0'.repeat(64)}`]

type Call = { readonly to: Wallet; readonly data: Hex }

/** Escrow contracts that the gas key operates. */
function escrowsOf({ chain }: Keyed): Wallet[] {
  return chain.ring.all.flatMap(({ escrow }) => escrow ?? [])
}

function roleCalls(keyed: Keyed, change: AbiMethod<readonly ['bytes32', 'address'], readonly []>, key: Wallet): Call[] {
  return escrowsOf(keyed).flatMap((to) => roles.map((role) => ({ to, data: encodeCall(change, [role, key]) })))
}

/** Contracts of a devnet have one owner. */
function ownerCalls({ chain, deployment }: Keyed, key: Wallet): Call[] {
  if (chain.mode !== 'devnet') return []
  return [
    { to: deployment.asset, data: encodeCall(transferOwnership, [key]) },
    { to: deployment.identity, data: encodeCall(setRegistrar, [key]) },
  ]
}

/** @throws AppError if another daemon uses the new key, or the contracts of a devnet are too old to be handed over */
export async function checkHandOver(start: EvmStart, keyed: Keyed, next: Wallet): Promise<void> {
  lockGasKey(start, next)
  const { rpc, gas } = keyed.chain
  const from = gas.key.address
  const calls = ownerCalls(keyed, next).map((call) => ({ method: 'eth_call', params: [{ ...call, from }, 'latest'] }))
  const { answers } = await rpc.read(calls)
  if (answers.every(({ ok }) => ok)) return
  const sentence =
    'An earlier version made this devnet, whose contracts cannot be handed over: start over with souk reset.'
  throw new AppError('conflict', sentence)
}

/**
 * Lets the prepared gas key send. Before, the old key hands its contracts over, and moves its ETH. A contract that
 * cannot be handed over gets a successor. A purchase waits meanwhile; calls keep their ids, so nothing is done twice.
 */
export async function replaceGas(start: EvmStart, keyed: Keyed): Promise<void> {
  const next = await nextKey(start, 'gas')
  if (!next) return
  const { chain } = keyed
  lockGasKey(start, next.id)
  const key = await signerOf(start, next)
  const former = chain.gas
  await chain.queue.changeSigner(key, async () => {
    const anchors = await handOver(keyed, next.id)
    await commitGas(start, next.id, anchors)
    chain.gas.anchors = [anchors, ...former.anchors]
    chain.gas.senders = [next.id, ...former.senders]
    chain.gas.key = key
  })
}

/** @returns the new contract for anchors */
async function handOver(keyed: Keyed, next: Wallet): Promise<Wallet> {
  const { chain, deployment, row } = keyed
  const from = chain.gas.key.address
  const { anchors } = planOwn({ sender: next, payTo: chain.payTo, salt: row.salt }, deployment.asset)
  const queue = { call: (order: Parameters<typeof chain.queue.call>[0]) => chain.queue.call({ ...order, from }) }
  await deploy({ anchors }, { rpc: chain.rpc, queue })
  const calls = [...roleCalls(keyed, grantRole, next), ...ownerCalls(keyed, next)]
  await callAll(keyed, calls, { id: `hand-over:${next}`, from })
  const price = BigInt(String(await chain.rpc.ask('eth_gasPrice', [])))
  const leaves = LEFT_WEI + KEPT_GAS * price
  const order = { to: next, data: '0x', gas: MOVE_GAS, from, leaves } as const
  const moved = await chain.queue.call({ id: `ether:${from}:${next}`, ...order })
  // A key without more ETH moves none.
  if (!moved.ok && moved.failure === 'unavailable') throw unavailable(moved)
  return anchors.address
}

type Naming = { readonly id: string; readonly from?: Wallet }

/** Sends calls under ids of their own. @throws Error if a contract refuses one */
async function callAll({ chain }: Keyed, calls: readonly Call[], { id, from }: Naming): Promise<void> {
  const outcomes = await Promise.all(
    calls.map((call) =>
      chain.queue.call({ id: `${id}:${call.to}:${call.data.slice(0, 74)}`, ...call, ...compact({ from }) }),
    ),
  )
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.ok) continue
    if (outcome.failure === 'unavailable') throw unavailable(outcome)
    throw new Error(`the contract ${calls[at]?.to} does not accept a call of the gas key: it may have other owners now`)
  }
}

function unavailable({ transaction }: Extract<OrderOutcome, { ok: false }>): RpcUnavailableError {
  return new RpcUnavailableError(`the hand-over of the gas key waits${transaction ? ` for ${transaction}` : ''}`)
}

async function commitGas({ store, wall, mode }: EvmStart, id: Wallet, anchors: Wallet): Promise<void> {
  await store.tx(async (t) => {
    const old = await takePlace(t, { id, now: wall(), windowMs: 0 })
    const home = await t.table(chainHomes).getForUpdate('chain')
    if (!home || !old) throw new Error(`${chainNetworks[mode]} has no key to replace`)
    const before = compact({ [anchorsName(old.id)]: home.contracts['anchors'] })
    await t.table(chainHomes).put({ ...home, gas_key: id, contracts: { ...home.contracts, ...before, anchors } })
  })
}

/**
 * Takes the roles from a replaced gas key, and moves what ETH it still has to the current one.
 * @returns what is left to move, in wei; undefined if that is not known yet
 */
export async function moveEther(start: EvmStart, keyed: Keyed, row: OperatorKeyRow): Promise<bigint | undefined> {
  const { queue, gas } = keyed.chain
  const from = row.id
  if (from === gas.key.address) return undefined
  await callAll(keyed, roleCalls(keyed, revokeRole, from), { id: `cut-off:${from}` })
  const order = { to: gas.key.address, data: '0x', gas: MOVE_GAS, from, leaves: LEFT_WEI } as const
  const moved = await queue.call({ id: `ether:${from}:${row.sweeps}`, ...order })
  if (!moved.ok) return moved.sent || moved.failure === 'unavailable' ? undefined : 0n
  await changeKey(start, from, (known) => ({ ...known, sweeps: known.sweeps + 1 }))
  return undefined
}
