import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Authorization, authorizationTypes } from '../../../../src/core/authorization.ts'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'
import type { ChainPort } from '../chain.ts'

/** A chain under test, opened over a store of its own. */
export type ChainBench = {
  readonly chain: ChainPort
  /** Clock of the chain, unix seconds. */
  readonly seconds: () => number
  /** Gives a wallet test money past any daily bound. */
  readonly fund: (wallet: Wallet, amount: bigint) => Promise<void>
  /** Ends the adapter as a crash does, and opens the same chain over the same store again. */
  readonly reopen: () => Promise<void>
  readonly close: () => Promise<void>
}

export type OpenBench = () => Promise<ChainBench>

export type Person = { readonly wallet: Wallet; readonly account: PrivateKeyAccount }

export function newPerson(): Person {
  const account = privateKeyToAccount(generatePrivateKey())
  return { account, wallet: toWallet(account.address) }
}

export const nonceOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
export const hashOf = (n: number): Hex => `0x${String(n).repeat(64)}`

export type SignedBytes = { readonly authorization: Authorization; readonly signature: Hex }

/** An authorization of 1,000 to the marketplace that is good for a minute, but for what is changed, signed by viem. */
export async function signed(
  { chain, seconds }: ChainBench,
  { wallet, account }: Person,
  change: Partial<Authorization> = {},
): Promise<SignedBytes> {
  const authorization: Authorization = {
    from: wallet,
    to: chain.payTo,
    value: 1_000n,
    validAfter: 0n,
    validBefore: BigInt(seconds() + 60),
    nonce: nonceOf(1),
    ...change,
  }
  const signature = await account.signTypedData({
    domain: chain.domain,
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return { authorization, signature }
}
