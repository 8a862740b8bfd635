import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Hex, toWallet, type Wallet } from './hex.ts'
import { typedDigest } from './keccak.ts'
import type { Usdc } from './money.ts'

/** Supported networks, by their x402 v1 names. */
export const networks = {
  base: { caip2: 'eip155:8453', chainId: 8453 },
  'base-sepolia': { caip2: 'eip155:84532', chainId: 84532 },
} as const

export type Network = keyof typeof networks

/**
 * Network that payment requests name, by chain mode. Sandbox and devnet name `base`, so that unmodified clients pay.
 * They cannot pay real money by mistake, since the test token has a random address.
 */
export const chainNetworks = {
  sandbox: 'base',
  devnet: 'base',
  'base-sepolia': 'base-sepolia',
  base: 'base',
} as const satisfies Record<string, Network>

/** Circle's USDC by network; never the asset of a sandbox (decisions §4). */
export const circleUsdc: Readonly<Record<Network, { asset: Wallet; name: string; version: string }>> = {
  base: { asset: toWallet('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'), name: 'USD Coin', version: '2' },
  'base-sepolia': { asset: toWallet('0x036cbd53842c5426634e7929541ec2318f3dcf7e'), name: 'USDC', version: '2' },
}

/** Fields of an EIP-3009 `TransferWithAuthorization`; times in unix seconds, value in micro-USDC. */
export type Authorization = {
  from: Wallet
  to: Wallet
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

export type TokenDomain = { name: string; version: string; chainId: number; verifyingContract: Wallet }

/** Range of an authorised value; `min` is the quoted price. */
export type PriceRange = { min: Usdc; max: Usdc }

/** Payment request, independent of the x402 version (decisions §4). */
export type PaymentRequirement = {
  /** A fixed price, or a range within which the authorised value must be. */
  price: Usdc | PriceRange
  payTo: Wallet
  asset: Wallet
  network: Network
  domain: { name: string; version: string }
  maxTimeoutSeconds: number
}

/** The entry of `accepts` that a v2 payer chose. Addresses are lower case; `extra` may have unknown keys. */
export type AcceptedEntry = {
  scheme: string
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: Readonly<Record<string, unknown>>
}

/** A parsed payment header; trust only what `verifyAuthorization` compared. */
export type PaymentCredential = {
  scheme: string
  /** As sent: `base` (v1), `eip155:8453` (v2). */
  network: string
  authorization: Authorization
  signature: Hex
} & (
  | { version: 1 }
  | {
      version: 2
      accepted: AcceptedEntry
      /** Id from the extension `payment-identifier`. */
      paymentId?: string
      /** Format of the signed receipt, if the client knows the extension `offer-receipt`. */
      receipt?: 'eip712' | 'jws'
    }
)

export const MAX_UINT256 = 2n ** 256n - 1n
const WORD_BYTES = 32
const SIGNATURE_BYTES = 65
const SIGNATURE_SHAPE = /^0x[0-9a-fA-F]*$/
/** Half the order of secp256k1: the token refuses malleable signatures with larger s. */
const MAX_LOW_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const ERC6492_SUFFIX = '6492'.repeat(16)

const domainTypehash = keccak_256(
  utf8ToBytes('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
)
const transferTypehash = keccak_256(
  utf8ToBytes(
    'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  ),
)
const receiveTypehash = keccak_256(
  utf8ToBytes(
    'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  ),
)

/** EIP-712 types for typed-data signers. */
export const authorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** keccak-256 of the domain; constant per token. */
export function domainSeparator(domain: TokenDomain): Uint8Array {
  const words = new Uint8Array(5 * WORD_BYTES)
  words.set(domainTypehash, 0)
  words.set(keccak_256(utf8ToBytes(domain.name)), WORD_BYTES)
  words.set(keccak_256(utf8ToBytes(domain.version)), 2 * WORD_BYTES)
  writeUint(words, 3 * WORD_BYTES, BigInt(domain.chainId))
  writeAddress(words, 4 * WORD_BYTES, domain.verifyingContract)
  return keccak_256(words)
}

/** EIP-712 struct hash: keccak-256 of the type hash and six fields, 32 bytes each. */
export function authorizationStructHash(authorization: Authorization, typehash = transferTypehash): Uint8Array {
  const words = new Uint8Array(7 * WORD_BYTES)
  words.set(typehash, 0)
  writeAddress(words, WORD_BYTES, authorization.from)
  writeAddress(words, 2 * WORD_BYTES, authorization.to)
  writeUint(words, 3 * WORD_BYTES, authorization.value)
  writeUint(words, 4 * WORD_BYTES, authorization.validAfter)
  writeUint(words, 5 * WORD_BYTES, authorization.validBefore)
  words.set(hexToBytes(authorization.nonce.slice(2)), 6 * WORD_BYTES)
  return keccak_256(words)
}

/** The digest that a payer signs. */
export function authorizationDigest(separator: Uint8Array, authorization: Authorization): Uint8Array {
  return typedDigest(separator, authorizationStructHash(authorization))
}

/** The digest of a `ReceiveWithAuthorization`: a transfer that only the payee may submit. */
export function receiveDigest(separator: Uint8Array, authorization: Authorization): Uint8Array {
  return typedDigest(separator, authorizationStructHash(authorization, receiveTypehash))
}

/** `compact` holds r and s, 64 bytes; `parity` is needed to recover the signer. */
export type SplitSignature = { compact: Uint8Array; parity: 0 | 1 }

export type SignatureFault = 'signature_length' | 'signature_high_s' | 'signature_invalid' | 'smart_wallet_unsupported'

/**
 * Parses `r ‖ s ‖ v` strictly: 65 bytes, low s, v of 27 or 28 (0 and 1 are normalised). Other forms are refused, each
 * with a named fault (decisions §4).
 */
export function splitSignature(
  signature: Hex,
): { ok: true; signature: SplitSignature } | { ok: false; fault: SignatureFault } {
  if (!SIGNATURE_SHAPE.test(signature)) return { ok: false, fault: 'signature_invalid' }
  const digits = signature.slice(2)
  if (digits.length !== SIGNATURE_BYTES * 2) {
    return { ok: false, fault: digits.endsWith(ERC6492_SUFFIX) ? 'smart_wallet_unsupported' : 'signature_length' }
  }
  const v = Number.parseInt(digits.slice(128), 16)
  const parity = v >= 27 ? v - 27 : v
  if (parity !== 0 && parity !== 1) return { ok: false, fault: 'signature_invalid' }
  if (BigInt(`0x${digits.slice(64, 128)}`) > MAX_LOW_S) return { ok: false, fault: 'signature_high_s' }
  return { ok: true, signature: { compact: hexToBytes(digits.slice(0, 128)), parity } }
}

export function addressOfPublicKey(uncompressed: Uint8Array): Wallet {
  return toWallet(`0x${bytesToHex(keccak_256(uncompressed.subarray(1)).subarray(12))}`)
}

export function priceRange(price: PaymentRequirement['price']): PriceRange {
  return typeof price === 'bigint' ? { min: price, max: price } : price
}

function writeUint(words: Uint8Array, offset: number, value: bigint): void {
  const view = new DataView(words.buffer, words.byteOffset + offset, WORD_BYTES)
  for (let at = WORD_BYTES - 8, rest = value; at >= 0; at -= 8, rest >>= 64n) {
    view.setBigUint64(at, BigInt.asUintN(64, rest))
  }
}

function writeAddress(words: Uint8Array, offset: number, address: Wallet): void {
  words.set(hexToBytes(address.slice(2)), offset + 12)
}
