import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { ask } from '../anvil/process.ts'
import { creationCode } from '../contracts/artifacts.ts'
import type { CallOrder, TxQueue } from '../queue/queue.ts'
import { type AbiType, encodeValues, type ValuesOf } from '../rpc/abi.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { bigIn, bytesIn, quantity, RpcUnavailableError } from '../rpc/values.ts'

/**
 * CREATE2 factory, at the same address on every public chain. It deploys to fixed addresses, so an interrupted
 * deployment can continue and deploys nothing twice.
 */
export const factory = {
  address: toWallet('0x4e59b44847b379578588920ca78fbf26c0b4956c'),
  code: '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
} as const

const ADDRESS_BYTES = 20
const CREATE2 = Uint8Array.of(0xff)

export type Planned = { readonly name: string; readonly address: Wallet; readonly order: Omit<CallOrder, 'id'> }

/** Arguments of the contracts' constructors, and the salt of their addresses. */
export type Roles = {
  /** Address of the gas key. It sends all transactions: test money, registrations, anchors, escrow calls. */
  readonly sender: Wallet
  readonly payTo: Wallet
  /** Different for each installation, so that installations do not share contracts. */
  readonly salt: Hex
}

/** Plans our contracts on a public chain, where the token exists already. */
export function planOwn(roles: Roles, token: Wallet) {
  return {
    escrow: planned('escrow', roles, [
      ['address', 'address', 'address', 'address', 'address'],
      [token, roles.payTo, roles.sender, roles.sender, roles.sender],
    ]),
    anchors: planned('verdictAnchors', roles, [['address'], [roles.sender]]),
  }
}

/** Plans all contracts of a devnet. @param domain - name and version of the token */
export function planDevnet(roles: Roles, domain: { readonly name: string; readonly version: string }) {
  const { name, version } = domain
  const token = planned('testToken', roles, [
    ['string', 'string', 'address'],
    [name, version, roles.sender],
  ])
  const identity = planned('identityRegistry', roles, [['address'], [roles.sender]])
  return {
    token,
    identity,
    reputation: planned('reputationRegistry', roles, [['address'], [identity.address]]),
    // Not named `batch`, because older data folders have another contract under that name.
    batcher: planned('cappedBatch', roles, [[], []]),
    ...planOwn(roles, token.address),
  }
}

type Arguments<T extends readonly AbiType[]> = readonly [types: T, values: ValuesOf<T>]

function planned<const T extends readonly AbiType[]>(
  name: keyof typeof creationCode,
  { salt }: Roles,
  [types, values]: Arguments<T>,
): Planned {
  const given = encodeValues(types, values).slice(2)
  const code = `${creationCode[name].slice(2)}${given}`
  const parts = [CREATE2, hexToBytes(factory.address.slice(2)), hexToBytes(salt.slice(2)), keccak_256(hexToBytes(code))]
  const hash = keccak_256(concatBytes(...parts))
  return {
    name,
    address: toWallet(`0x${Buffer.from(hash.slice(-ADDRESS_BYTES)).toString('hex')}`),
    order: { to: factory.address, data: `${salt}${code}` },
  }
}

/** Deploys missing contracts; returns their number. @throws Error that names a contract that could not be deployed */
export async function deploy(
  plan: Readonly<Record<string, Planned>>,
  { rpc, queue }: { readonly rpc: Rpc; readonly queue: Pick<TxQueue, 'call'> },
): Promise<number> {
  const missing = await missingOf(Object.values(plan), rpc)
  await Promise.all(
    missing.map(async ({ name, address, order }) => {
      const outcome = await queue.call({ id: `deploy:${address}`, ...order })
      if (!outcome.ok) throw new Error(`the contract ${name} could not be deployed: ${outcome.failure}`)
    }),
  )
  const [still] = await missingOf(missing, rpc)
  if (still) throw new Error(`the contract ${still.name} is not at ${still.address} after its deployment`)
  return missing.length
}

async function missingOf(plan: readonly Planned[], rpc: Rpc): Promise<Planned[]> {
  const bare = new Set(
    await withoutCode(
      plan.map(({ address }) => address),
      rpc,
    ),
  )
  return plan.filter(({ address }) => bare.has(address))
}

/** Addresses without a contract. @throws RpcUnavailableError */
export async function withoutCode(addresses: readonly Wallet[], rpc: Rpc): Promise<Wallet[]> {
  const { answers } = await rpc.read(
    addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  return addresses.filter((_, at) => {
    const answer = answers[at]
    if (answer?.ok !== true) throw new RpcUnavailableError(`eth_getCode: ${answer?.message ?? 'no answer'}`)
    return bytesIn(answer.result) === '0x'
  })
}

const ETHER = 10n ** 18n
/** Gas balance below which a devnet's gas key gets `GIVEN` at the start, in wei. */
const LEAST = 1_000n * ETHER
const GIVEN = 1_000_000n * ETHER

/** Supplies gas money and the CREATE2 factory at each start, because a local chain may have lost its last blocks. */
export async function prepareDevnet(url: string, gasKey: Wallet): Promise<void> {
  // Call only methods that both anvil and hardhat have.
  const code = await ask(url, 'eth_getCode', factory.address, 'latest')
  if (code === '0x') await ask(url, 'hardhat_setCode', factory.address, factory.code)
  const held = bigIn(await ask(url, 'eth_getBalance', gasKey, 'latest'))
  if (held < LEAST) await ask(url, 'hardhat_setBalance', gasKey, quantity(GIVEN))
}
