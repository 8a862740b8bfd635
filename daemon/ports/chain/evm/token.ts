import { bytesToHex } from '@noble/hashes/utils.js'
import type { Authorization } from '../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../../src/core/money.ts'
import type { AuthorizationState, Finality } from '../chain.ts'
import { CallFailed, CallReverted, type Reads } from './reads.ts'
import { addressTopic, decodeValues, method, topicOf } from './rpc/abi.ts'

const balanceOf = method('balanceOf', ['address'], ['uint256'])
const decimals = method('decimals', [], ['uint8'])
const separator = method('DOMAIN_SEPARATOR', [], ['bytes32'])
const authorizationState = method('authorizationState', ['address', 'bytes32'], ['bool'])
export const mint = method('mint', ['address', 'uint256'], [])
export const isValidSignature = method('isValidSignature', ['bytes32', 'bytes'], ['bytes4'])
const USED = topicOf('AuthorizationUsed(address,bytes32)')
const CANCELLED = topicOf('AuthorizationCanceled(address,bytes32)')
const TRANSFER = topicOf('Transfer(address,address,uint256)')
/** Magic value of ERC-1271. */
export const AGREED = '0x1626ba7e'
/** Gas for checking a contract wallet's signature. */
export const SIGNATURE_GAS = 500_000
const DECIMALS = 6n

/** What happened to an authorization that was used. */
export type Spent =
  | { readonly kind: 'moved'; readonly transaction: Hex; readonly to: Wallet; readonly value: bigint }
  | { readonly kind: 'cancelled' }
  /** The authorization was used before the searched blocks, or without a transfer. */
  | { readonly kind: 'unknown' }

/** Token calls; all throw RpcUnavailableError when no node answers. */
export type TokenCalls = {
  balanceOf(wallet: Wallet): Promise<Usdc>
  authorizationState(from: Wallet, nonce: Hex, finality: Finality): Promise<AuthorizationState>
  spent(authorization: Pick<Authorization, 'from' | 'nonce'>): Promise<Spent>
  /** Checks that the contract is the expected token. @returns the problem in one sentence, or undefined */
  fault(separatorOfOurs: Uint8Array): Promise<string | undefined>
  /** Whether the contract at the wallet's address accepts a signature; false if there is no contract. */
  isAgreed(wallet: Wallet, digest: Uint8Array, signature: Hex): Promise<boolean>
}

export function openToken(reads: Reads, asset: Wallet): TokenCalls {
  async function spent({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): Promise<Spent> {
    const party = [addressTopic(from), nonce]
    const [used] = await reads.newestLogs({ address: asset, topics: [USED, ...party] }, 1)
    if (used === undefined) {
      const [cancelled] = await reads.newestLogs({ address: asset, topics: [CANCELLED, ...party] }, 1)
      return { kind: cancelled ? 'cancelled' : 'unknown' }
    }
    const { transaction, index } = used
    // The token emits `AuthorizationUsed` directly before the transfer's event.
    const moved = (await reads.logsOf(transaction)).find((log) => log.index === index + 1)
    if (moved?.address !== asset || moved.topics[0] !== TRANSFER) return { kind: 'unknown' }
    const [to] = decodeValues(['address'], moved.topics[2] ?? '0x')
    const [value] = decodeValues(['uint256'], moved.data)
    return { kind: 'moved', transaction, to, value }
  }

  return {
    spent,
    balanceOf: async (wallet) => usdc((await reads.view({ to: asset, method: balanceOf, values: [wallet] }))[0]),
    authorizationState: async (from, nonce, finality) => {
      // Read the block first, because an authorization that is unused later was also unused in that block.
      const asOf = await reads.asOf(finality)
      const [used] = await reads.call({ to: asset, method: authorizationState, values: [from, nonce] })
      if (!used) return { used, asOf }
      const found = await spent({ from, nonce })
      return found.kind === 'moved' ? { used, transaction: found.transaction, asOf } : { used, asOf }
    },
    fault: async (separatorOfOurs) => {
      const code = await reads.code(asset)
      if (code === '0x') return `${asset} is not a contract on this chain: give the address of the token`
      try {
        const [digits] = await reads.call({ to: asset, method: decimals, values: [] })
        if (digits !== DECIMALS) return `the token at ${asset} has ${digits} decimals; USDC has ${DECIMALS}`
        const [theirs] = await reads.call({ to: asset, method: separator, values: [] })
        const isSame = theirs === `0x${bytesToHex(separatorOfOurs)}`
        return isSame ? undefined : `the token at ${asset} has another signing name, version or chain`
      } catch (error) {
        if (error instanceof CallReverted) return `the contract at ${asset} is not USDC: ${error.message}`
        throw error
      }
    },
    isAgreed: async (wallet, digest, signature) => {
      if ((await reads.code(wallet)) === '0x') return false
      try {
        const values = [`0x${bytesToHex(digest)}`, signature] as const
        const [answer] = await reads.call({ to: wallet, method: isValidSignature, values, gas: SIGNATURE_GAS })
        return answer === AGREED
      } catch (error) {
        // `CallFailed` also means that the contract ran out of gas.
        if (error instanceof CallReverted || error instanceof CallFailed) return false
        throw error
      }
    },
  }
}
