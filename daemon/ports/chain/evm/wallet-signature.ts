import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { MAX_SIGNATURE_BYTES } from './queue/enter.ts'
import { decodeValues } from './rpc/abi.ts'

/** What ends the signature of a wallet that is not deployed yet (ERC-6492). */
const SUFFIX = '6492'.repeat(16)

/** How a wallet comes to be, and what it would say then. */
export type Undeployed = { readonly factory: Wallet; readonly deploy: Hex; readonly signature: Hex }

/** The parts of an ERC-6492 signature; undefined for every other, `malformed` where it only ends like one. */
export function undeployedIn(signature: Hex): Undeployed | 'malformed' | undefined {
  if (!signature.toLowerCase().endsWith(SUFFIX)) return undefined
  try {
    const parts = decodeValues(['address', 'bytes', 'bytes'], `0x${signature.slice(2, -SUFFIX.length).toLowerCase()}`)
    const [factory, deploy, inner] = parts
    return { factory, deploy, signature: inner }
  } catch {
    return 'malformed'
  }
}

export function isTooLong(signature: Hex): boolean {
  return signature.length > 2 + 2 * MAX_SIGNATURE_BYTES
}
