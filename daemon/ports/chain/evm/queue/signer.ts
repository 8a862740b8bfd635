import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { parseSignature, serializeTransaction } from 'viem'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { Signer } from '../../key.ts'

/** An EIP-1559 transaction without access list. */
export type Unsigned = {
  readonly chainId: number
  readonly nonce: number
  /** Wei per gas. */
  readonly tip: bigint
  readonly maxFee: bigint
  readonly gas: number
  readonly to: Wallet
  readonly data: Hex
  /** Wei. */
  readonly value?: bigint
}

export type SignedTx = { readonly raw: Hex; readonly hash: Hex }

export async function signTransaction(signer: Signer, { tip, maxFee, gas, ...rest }: Unsigned): Promise<SignedTx> {
  const fees = { maxPriorityFeePerGas: tip, maxFeePerGas: maxFee }
  const unsigned = { ...rest, ...fees, gas: BigInt(gas), type: 'eip1559' } as const
  const signature = await signer.sign(keccak_256(hexToBytes(serializeTransaction(unsigned).slice(2))))
  const raw = serializeTransaction(unsigned, parseSignature(signature))
  return { raw, hash: `0x${bytesToHex(keccak_256(hexToBytes(raw.slice(2))))}` }
}
