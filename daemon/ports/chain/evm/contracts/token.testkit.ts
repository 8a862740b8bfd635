import { keccak256, parseSignature, toHex } from 'viem'
import type { HDAccount } from 'viem/accounts'
import type { Hex } from '../../../../../src/core/hex.ts'

/* What a payer signs for the token, made by an independent library. */

const CHAIN_ID = 31_337

const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

type Wish = {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter?: bigint
  readonly validBefore?: bigint
  readonly nonce?: Hex
  readonly primaryType?: 'TransferWithAuthorization' | 'ReceiveWithAuthorization'
}

let made = 0

/** 32 bytes for a name. */
export function nonceOf(name: string): Hex {
  return keccak256(toHex(name))
}

/** The six arguments of an authorization in the order of the calls, and the payer's signature. */
export async function signed(token: Hex, wish: Wish, key: HDAccount | undefined) {
  const { validAfter = 0n, validBefore = 2n ** 48n, primaryType = 'TransferWithAuthorization' } = wish
  const nonce = wish.nonce ?? nonceOf(`authorization ${++made}`)
  const { from, to, value } = wish
  const message = { from, to, value, validAfter, validBefore, nonce }
  const signature = await signer(key).signTypedData({ domain: domainOf(token), types, primaryType, message })
  return { args: [from, to, value, validAfter, validBefore, nonce] as const, signature, nonce }
}

export function cancelled(token: Hex, message: { authorizer: Hex; nonce: Hex }, key: HDAccount | undefined) {
  const primaryType = 'CancelAuthorization'
  return signer(key).signTypedData({ domain: domainOf(token), types, primaryType, message })
}

/** v, r and s of a signature. */
export function wordsOf(signature: Hex): readonly [number, Hex, Hex] {
  const { r, s, yParity } = parseSignature(signature)
  return [27 + yParity, r, s]
}

function domainOf(verifyingContract: Hex) {
  return { name: 'USD Coin', version: '2', chainId: CHAIN_ID, verifyingContract }
}

function signer(key: HDAccount | undefined): HDAccount {
  if (key === undefined) throw new Error('no such account')
  return key
}
