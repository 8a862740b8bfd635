import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Authorization, MAX_UINT256 } from '../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import type { Usdc } from '../../../../src/core/money.ts'
import type {
  ChainPort,
  Finality,
  PayoutOrder,
  SettleFailure,
  SettleRefusal,
  SettleResult,
  TransferFailure,
  TransferResult,
  VerifyResult,
} from '../chain.ts'
import { batchCall, batchResults, transferCall } from './queue/calldata.ts'
import type { QueueOptions } from './queue/core.ts'
import { MAX_SIGNATURE_BYTES } from './queue/enter.ts'
import { failureOf } from './queue/outcome.ts'
import type { TxQueue } from './queue/queue.ts'
import type { KeySigner } from './queue/signer.ts'
import { CallReverted, type Reads } from './reads.ts'
import { decodeValues, encodeCall } from './rpc/abi.ts'
import { RpcUnavailableError } from './rpc/values.ts'
import { AGREED, isValidSignature, SIGNATURE_GAS, type TokenCalls } from './token.ts'

/** What ends the signature of a wallet that is not deployed yet (ERC-6492). */
const SUFFIX = '6492'.repeat(16)

/** How a wallet comes to be, and what it would say then. */
type Undeployed = { readonly factory: Wallet; readonly deploy: Hex; readonly signature: Hex }

/** The parts of an ERC-6492 signature; undefined for every other, `malformed` where it only ends like one. */
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

/** What a transfer may use where it is only tried out, contract wallets included. */
const TRIAL_GAS = 700_000
/** What the deployment of a contract wallet may cost. */
const DEPLOY_GAS = 1_500_000

export type SettlementParts = {
  readonly reads: Reads
  readonly queue: Pick<TxQueue, 'settle' | 'call'>
  readonly token: TokenCalls
  /** What tries out a wallet that is not deployed yet; without it such wallets are refused. */
  readonly batch: QueueOptions['batch']
  readonly asset: Wallet
  readonly payTo: Wallet
  /** Absent: payouts wait for the operator. */
  readonly payToKey: KeySigner | undefined
  /** Who sends: trials are made as it. */
  readonly sender: Wallet
  readonly digestOf: (authorization: Authorization) => Uint8Array
  /** Payments above it wait for more than a block. */
  readonly instantLimit: Usdc
  /** Factories whose wallets are deployed with their first payment. */
  readonly walletFactories: ReadonlySet<Wallet>
}

type Money = Pick<ChainPort, 'settle' | 'transfer' | 'verify'> & Required<Pick<ChainPort, 'isContractSignature'>>

/** How money moves on a connected chain: everything as an authorization, through the one queue. */
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

/** The signature as the token takes it: for a wallet that is not there yet, once it is deployed. */
async function ofDeployed(
  parts: SettlementParts,
  authorization: Authorization,
  given: Hex,
): Promise<Hex | SettleRefusal> {
  const { from } = authorization
  if (isTooLong(given)) return refused('signature_invalid')
  const wallet = undeployedIn(given)
  if (wallet === undefined) return given
  if (wallet === 'malformed') return refused('signature_invalid')
  if ((await parts.reads.code(from)) !== '0x') return wallet.signature
  if (!isAllowed(parts, wallet)) return refused('wallet_unsupported')
  if (!(await agreesOnceDeployed(parts, authorization, wallet))) return refused('signature_invalid')
  const { factory: to, deploy: data } = wallet
  const outcome = await parts.queue.call({ id: `wallet:${from}`, to, data, gas: DEPLOY_GAS })
  if (outcome.ok || (await parts.reads.code(from)) !== '0x') return wallet.signature
  // Nothing of the payment itself was sent.
  return refused(outcome.failure === 'unavailable' ? 'unavailable' : 'wallet_unsupported')
}

function refused(failure: SettleFailure): SettleRefusal {
  return { ok: false, failure, sent: false }
}

function isAllowed({ walletFactories }: SettlementParts, { factory }: Undeployed): boolean {
  return walletFactories.has(factory)
}

/** Whether the factory makes the very wallet that pays, and that agrees to what was signed: tried in one call. */
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

/** What the token says of a transfer that is not sent. */
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

/** Whoever deploys the wallet decides what it agrees to, so that until then its factory has to be one of ours. */
async function isContractSignature(parts: SettlementParts, authorization: Authorization, given: Hex): Promise<boolean> {
  if (isTooLong(given)) return false
  const wallet = undeployedIn(given)
  if (wallet === 'malformed') return false
  const digest = parts.digestOf(authorization)
  if (await parts.token.isAgreed(authorization.from, digest, wallet?.signature ?? given)) return true
  if (wallet === undefined || !isAllowed(parts, wallet)) return false
  return (await parts.reads.code(authorization.from)) === '0x' && agreesOnceDeployed(parts, authorization, wallet)
}

/** Nonce of a payout: the token takes it once, whichever daemon or store it comes from. */
export function payoutNonce(id: string): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(`souk payout\n${id}`)))}`
}

/**
 * A payout is an authorization of `payTo`: paid at most once by the token itself, and its bytes are the same at each
 * attempt. It never expires, as it is never given up: it moves money or is sent again.
 */
async function pay(parts: SettlementParts, { id, to, amount }: PayoutOrder): Promise<TransferResult> {
  const { payTo: from, payToKey, queue, digestOf } = parts
  if (!payToKey) return { ok: false, failure: 'unavailable' }
  const window = { validAfter: 0n, validBefore: MAX_UINT256 }
  const authorization: Authorization = { from, to, value: amount, ...window, nonce: payoutNonce(id) }
  const signature = payToKey.digest(digestOf(authorization))
  const result = await queue.settle({ authorization, signature, priority: 'payout', until: 'confirmed' })
  if (result.ok) return result
  if (result.failure === 'authorization_used' || result.failure === 'authorization_cancelled') {
    return whatBecame(parts, authorization)
  }
  return { ok: false, failure: payoutFailures[result.failure] ?? 'reverted' }
}

const payoutFailures: Partial<Readonly<Record<SettleFailure, TransferFailure>>> = {
  insufficient_funds: 'insufficient_funds',
  payer_blocked: 'payee_blocked',
  token_paused: 'token_paused',
  unavailable: 'unavailable',
}

/** Only what is seen to have gone elsewhere was another payout: money is never sent a second time on a guess. */
async function whatBecame({ token }: SettlementParts, authorization: Authorization): Promise<TransferResult> {
  const spent = await token.spent(authorization)
  if (spent.kind === 'unknown') return { ok: false, failure: 'unavailable' }
  if (spent.kind === 'cancelled') return { ok: false, failure: 'id_reused' }
  const isSame = spent.to === authorization.to && spent.value === authorization.value
  return isSame ? { ok: true, transaction: spent.transaction, already: true } : { ok: false, failure: 'id_reused' }
}
