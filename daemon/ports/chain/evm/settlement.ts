import { bytesToHex } from '@noble/hashes/utils.js'
import { type Authorization, MAX_UINT256 } from '../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../../src/core/money.ts'
import {
  type ChainPort,
  type Finality,
  type PayoutOrder,
  type PayToAddress,
  type SettleFailure,
  type SettleRefusal,
  type SettleResult,
  type TransferFailure,
  type TransferResult,
  unsent,
  type VerifyResult,
} from '../chain.ts'
import type { Signer } from '../key.ts'
import { payoutNonce } from '../signature.ts'
import { batchCall, batchResults, transferCall } from './queue/calldata.ts'
import type { QueueOptions } from './queue/core.ts'
import { MAX_SIGNATURE_BYTES } from './queue/enter.ts'
import { failureOf } from './queue/outcome.ts'
import type { TransferOrder, TxQueue } from './queue/queue.ts'
import { CallReverted, type Reads } from './reads.ts'
import { decodeValues, encodeCall } from './rpc/abi.ts'
import { RpcUnavailableError } from './rpc/values.ts'
import { AGREED, isValidSignature, SIGNATURE_GAS, type TokenCalls } from './token.ts'

/** Suffix of signatures of undeployed wallets (ERC-6492). */
const SUFFIX = '6492'.repeat(16)

/** Parts of an ERC-6492 signature: the factory call that deploys the wallet, and the wallet's own signature. */
type Undeployed = { readonly factory: Wallet; readonly deploy: Hex; readonly signature: Hex }

/** Parses an ERC-6492 signature; undefined for other signatures, `malformed` for a broken one. */
function undeployedIn(signature: Hex): Undeployed | 'malformed' | undefined {
  if (!signature.toLowerCase().endsWith(SUFFIX)) return undefined
  try {
    const parts = decodeValues(['address', 'bytes', 'bytes'], `0x${signature.slice(2, -SUFFIX.length).toLowerCase()}`)
    const [factory, deploy, inner] = parts
    return { factory, deploy, signature: inner }
  } catch {
    return 'malformed'
  }
}

function isTooLong(signature: Hex): boolean {
  return signature.length > 2 + 2 * MAX_SIGNATURE_BYTES
}

/** Gas limit of a simulated transfer, also from contract wallets. */
const TRIAL_GAS = 700_000
const DEPLOY_GAS = 1_500_000

export type PayToKey = PayToAddress & { readonly key: Signer | undefined; readonly escrow: Wallet | undefined }

/** Pay-to keys in use, the quoted one first. A rotation replaces the list. */
export type PayToRing = { all: readonly PayToKey[] }

export type SettlementParts = {
  readonly reads: Reads
  readonly queue: Pick<TxQueue, 'settle' | 'call'>
  readonly token: TokenCalls
  readonly batch: QueueOptions['batch']
  readonly asset: Wallet
  readonly ring: PayToRing
  readonly sender: Wallet
  readonly digestOf: (authorization: Authorization) => Uint8Array
  readonly instantLimit: Usdc
  readonly walletFactories: ReadonlySet<Wallet>
}

type Money = Pick<ChainPort, 'settle' | 'transfer' | 'verify'> & Required<Pick<ChainPort, 'isContractSignature'>>

/** Moves money on a connected chain. All transfers are authorizations that one queue sends. */
export function openSettlement(parts: SettlementParts): Money {
  return {
    settle: (authorization, signature) => settle(parts, authorization, signature),
    transfer: (payout) => pay(parts, payout),
    verify: (authorization, signature) => verify(parts, authorization, signature),
    isContractSignature: (authorization, signature) => isContractSignature(parts, authorization, signature),
  }
}

async function settle(parts: SettlementParts, authorization: Authorization, signature: Hex): Promise<SettleResult> {
  const { queue, instantLimit } = parts
  const signed = await ofDeployed(parts, authorization, signature)
  if (typeof signed === 'object') return signed
  const until: Finality = authorization.value > instantLimit ? 'confirmed' : 'included'
  return queue.settle({ authorization, signature: signed, priority: 'payment', until })
}

/** Returns the signature to pass to the token, or a refusal. Deploys the payer's wallet first if needed. */
async function ofDeployed(
  parts: SettlementParts,
  authorization: Authorization,
  given: Hex,
): Promise<Hex | SettleRefusal> {
  const { from } = authorization
  if (isTooLong(given)) return unsent('signature_invalid')
  const wallet = undeployedIn(given)
  if (wallet === undefined) return given
  if (wallet === 'malformed') return unsent('signature_invalid')
  if ((await parts.reads.code(from)) !== '0x') return wallet.signature
  if (!isAllowed(parts, wallet)) return unsent('wallet_unsupported')
  if (!(await agreesOnceDeployed(parts, authorization, wallet))) return unsent('signature_invalid')
  const { factory: to, deploy: data } = wallet
  const outcome = await parts.queue.call({ id: `wallet:${from}`, to, data, gas: DEPLOY_GAS })
  if (outcome.ok || (await parts.reads.code(from)) !== '0x') return wallet.signature
  // The call that deploys the wallet failed. The payment itself was not sent.
  return unsent(outcome.failure === 'unavailable' ? 'unavailable' : 'wallet_unsupported')
}

function isAllowed({ walletFactories }: SettlementParts, { factory }: Undeployed): boolean {
  return walletFactories.has(factory)
}

/** Simulates deploying the payer's wallet; returns whether the wallet then accepts the signature. */
async function agreesOnceDeployed(
  parts: SettlementParts,
  authorization: Authorization,
  { factory, deploy, signature }: Undeployed,
): Promise<boolean> {
  const { batch, reads, sender, digestOf } = parts
  if (!batch) return false
  const question = encodeCall(isValidSignature, [`0x${bytesToHex(digestOf(authorization))}`, signature])
  const data = batchCall(batch.kind, [
    { target: factory, data: deploy, gasCap: DEPLOY_GAS },
    { target: authorization.from, data: question, gasCap: SIGNATURE_GAS },
  ])
  try {
    const answer = await reads.trial({ from: sender, to: batch.address, data, gas: 2 * DEPLOY_GAS })
    const [made, said] = batchResults(answer, 2) ?? []
    return made?.ok === true && said?.ok === true && said.data.startsWith(AGREED)
  } catch (error) {
    if (error instanceof CallReverted) return false
    throw error
  }
}

async function verify(parts: SettlementParts, authorization: Authorization, given: Hex): Promise<VerifyResult> {
  if (isTooLong(given)) return { ok: false, failure: 'signature_invalid' }
  const wallet = undeployedIn(given)
  if (wallet === 'malformed') return { ok: false, failure: 'signature_invalid' }
  const isThere = wallet !== undefined && (await parts.reads.code(authorization.from)) !== '0x'
  if (wallet && !isThere) {
    if (!isAllowed(parts, wallet)) return { ok: false, failure: 'wallet_unsupported' }
    const isGood = await agreesOnceDeployed(parts, authorization, wallet)
    return isGood ? { ok: true } : { ok: false, failure: 'signature_invalid' }
  }
  const failure = await trial(parts, transferCall(authorization, wallet?.signature ?? given))
  return failure === undefined ? { ok: true } : { ok: false, failure }
}

/** Simulates a transfer. */
async function trial({ reads, sender, asset }: SettlementParts, data: Hex): Promise<SettleFailure | undefined> {
  try {
    await reads.trial({ from: sender, to: asset, data, gas: TRIAL_GAS })
    return undefined
  } catch (error) {
    if (error instanceof CallReverted) return failureOf(error.data ?? '0x')
    if (error instanceof RpcUnavailableError) return 'unavailable'
    throw error
  }
}

/** Whether the payer's contract accepts a signature. The factory of an undeployed wallet must be allowed. */
async function isContractSignature(parts: SettlementParts, authorization: Authorization, given: Hex): Promise<boolean> {
  if (isTooLong(given)) return false
  const wallet = undeployedIn(given)
  if (wallet === 'malformed') return false
  const digest = parts.digestOf(authorization)
  if (await parts.token.isAgreed(authorization.from, digest, wallet?.signature ?? given)) return true
  if (wallet === undefined || !isAllowed(parts, wallet)) return false
  return (await parts.reads.code(authorization.from)) === '0x' && agreesOnceDeployed(parts, authorization, wallet)
}

/**
 * Pays with the key that signed the payout first. If that key was replaced and its money has left, first uses up the
 * payout's nonce there, so that its signature can never pay. Only then the next key signs.
 */
async function pay(parts: SettlementParts, payout: PayoutOrder): Promise<TransferResult> {
  const { all } = parts.ring
  const first = payout.from === undefined ? all.length - 1 : all.findIndex(({ address }) => address === payout.from)
  for (let at = first; at >= 0; at -= 1) {
    const key = all[at]
    if (!key) break
    const paid = await payFrom(parts, key, payout)
    const isEmpty = !paid.ok && (paid.failure === 'insufficient_funds' || paid.failure === 'id_reused')
    if (at === 0 || !isEmpty) return paid
    const used = await move(parts, key, { id: payout.id, to: key.address, amount: usdc(0n) })
    if (!used?.ok) break
  }
  return { ok: false, failure: 'unavailable' }
}

/**
 * Moves money by an authorization of a pay-to key. Every attempt has the same bytes, which the token accepts once. The
 * authorization never expires, so the caller can retry until the money moves.
 */
export async function move(
  { queue, digestOf }: Pick<SettlementParts, 'queue' | 'digestOf'>,
  { key }: Pick<PayToKey, 'key'>,
  { priority = 'payout', ...order }: PayoutOrder & Partial<Pick<TransferOrder, 'priority'>>,
): Promise<SettleResult | undefined> {
  if (!key) return undefined
  const authorization = authorizationOf(key, order)
  const signature = await key.sign(digestOf(authorization))
  return queue.settle({ authorization, signature, priority, until: 'confirmed' })
}

function authorizationOf({ address: from }: Pick<Signer, 'address'>, { id, to, amount }: PayoutOrder): Authorization {
  return { from, to, value: amount, validAfter: 0n, validBefore: MAX_UINT256, nonce: payoutNonce(id) }
}

async function payFrom(parts: SettlementParts, payTo: PayToKey, order: PayoutOrder): Promise<TransferResult> {
  const result = await move(parts, payTo, order)
  if (!result || !payTo.key) return { ok: false, failure: 'unavailable' }
  if (result.ok) return result
  if (result.failure === 'authorization_used' || result.failure === 'authorization_cancelled') {
    return whatBecame(parts, authorizationOf(payTo.key, order))
  }
  return { ok: false, failure: payoutFailures[result.failure] ?? 'reverted' }
}

const payoutFailures: Partial<Readonly<Record<SettleFailure, TransferFailure>>> = {
  insufficient_funds: 'insufficient_funds',
  payer_blocked: 'payee_blocked',
  token_paused: 'token_paused',
  unavailable: 'unavailable',
}

/** Finds what used the nonce of a payout. Returns `unavailable` if that is unknown, so that nothing is paid twice. */
async function whatBecame({ token }: SettlementParts, authorization: Authorization): Promise<TransferResult> {
  const spent = await token.spent(authorization)
  if (spent.kind === 'unknown') return { ok: false, failure: 'unavailable' }
  if (spent.kind === 'cancelled') return { ok: false, failure: 'id_reused' }
  const isSame = spent.to === authorization.to && spent.value === authorization.value
  return isSame ? { ok: true, transaction: spent.transaction, already: true } : { ok: false, failure: 'id_reused' }
}
