import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { serializeTransaction } from 'viem'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { openKey, type SigningKey } from '../../key.ts'

/** An EIP-1559 transaction without value and access list. */
export type Unsigned = {
  readonly chainId: number
  readonly nonce: number
  /** Wei per gas. */
  readonly tip: bigint
  readonly maxFee: bigint
  readonly gas: number
  readonly to: Wallet
  readonly data: Hex
}

export type SignedTx = { readonly raw: Hex; readonly hash: Hex }

/** An operator key; never logged or shown. */
export type KeySigner = Pick<SigningKey, 'address' | 'digest'> & { transaction(unsigned: Unsigned): SignedTx }

/** @param key - 32 bytes hex, with or without `0x`. @throws RangeError, whose message does not contain the key */
export async function openSigner(key: string): Promise<KeySigner> {
  const { sign, ...opened } = await openKey(key)
  return {
    ...opened,
    transaction: ({ tip, maxFee, gas, ...rest }) => {
      const fees = { maxPriorityFeePerGas: tip, maxFeePerGas: maxFee }
      const unsigned = { ...rest, ...fees, gas: BigInt(gas), type: 'eip1559' } as const
      const { r, s, parity } = sign(keccak_256(hexToBytes(serializeTransaction(unsigned).slice(2))))
      const raw = serializeTransaction(unsigned, { r: `0x${bytesToHex(r)}`, s: `0x${bytesToHex(s)}`, yParity: parity })
      return { raw, hash: `0x${bytesToHex(keccak_256(hexToBytes(raw.slice(2))))}` }
    },
  }
}
