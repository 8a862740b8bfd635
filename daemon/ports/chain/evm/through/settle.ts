import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization } from '../../../../../src/core/authorization.ts'
import { checksumAddress, type Hex } from '../../../../../src/core/hex.ts'
import type { Usdc } from '../../../../../src/core/money.ts'
import { SECOND_MS, unixSeconds } from '../../../../../src/core/time.ts'
import type { Log } from '../../../log.ts'
import {
  type AuthorizationState,
  type ChainPort,
  type ChainStatus,
  isOwn,
  type SettleFailure,
  type SettleResult,
} from '../../chain.ts'
import type { TxQueue } from '../queue/queue.ts'
import type { ForeignAsk, ForeignFacilitator, ForeignVersion, ForeignWord } from './facilitator.ts'

/** How long to watch the chain after the facilitator answered yes, no, or not at all. */
export const lookTimings = { yes: 30 * SECOND_MS, no: SECOND_MS, none: 5 * SECOND_MS }
const FIRST_LOOK_MS = 10
const LAST_LOOK_MS = SECOND_MS
/** Payment window that common x402 client packages request, in seconds. */
const WINDOW_SECONDS = 60
/** Placeholder that hides from the facilitator which resource was purchased. */
const RESOURCE = 'http://localhost/'

export type Through = {
  readonly chain: ChainPort
  readonly facilitator: ForeignFacilitator
  readonly instantLimit: Usdc
  /** Block number of a transaction. @throws when no node answers */
  readonly blockOf: (transaction: Hex) => Promise<number | undefined>
  /** Watches the facilitator's transfers until they are final. */
  readonly queue: Pick<TxQueue, 'followForeign' | 'onDropped'>
  readonly wall: () => number
  readonly log: Pick<Log, 'warn'>
  readonly timings?: Readonly<Record<ForeignWord['kind'], number>>
}

type Bench = Through & { lastFault: string | null; version: ForeignVersion | undefined }

/**
 * A chain whose payments to `payTo` are sent by an external facilitator. The facilitator may use the signed bytes until
 * their window closes, so its answers are not trusted. A payment has settled only if the chain shows it, and has failed
 * only if its authorization expired unused. Payouts are unaffected.
 */
export function settledThrough<C extends ChainPort>(through: Through & { readonly chain: C }): C {
  const bench: Bench = { ...through, lastFault: null, version: undefined }
  const { chain } = through
  const { status } = chain
  through.queue.onDropped(({ authorization, signature }) => sendAgain(bench, authorization, signature))
  return {
    ...chain,
    get payTo() {
      return chain.payTo
    },
    settle: (authorization: Authorization, signature: Hex) =>
      isOwn(chain, authorization.to) ? settle(bench, authorization, signature) : chain.settle(authorization, signature),
    ...(status ? { status: () => statusWith(status(), bench) } : {}),
  }
}

/** Settles a dropped transfer again through the facilitator. If that fails, uses our own queue. */
async function sendAgain(bench: Bench, authorization: Authorization, signature: Hex): Promise<void> {
  const result = await settle(bench, authorization, signature)
  if (!result.ok) await bench.chain.settle(authorization, signature)
}

function statusWith(status: ChainStatus, { lastFault, facilitator }: Bench): ChainStatus {
  if (lastFault === null) return status
  const sentence = `The facilitator at ${facilitator.label} does not settle: ${lastFault}. Check --settle-through.`
  const fault = { code: 'facilitator', sentence } as const
  return { ...status, health: status.health === 'down' ? 'down' : 'degraded', faults: [...status.faults, fault] }
}

/** Settles through the facilitator. Can be repeated, because it first checks whether the authorization was used. */
async function settle(bench: Bench, authorization: Authorization, signature: Hex): Promise<SettleResult> {
  const { chain, facilitator } = bench
  const before = await chain.authorizationState(authorization.from, authorization.nonce)
  if (before.used) return referee(bench, authorization, signature)
  const now = Math.max(unixSeconds(bench.wall()), before.asOf.timestamp)
  if (authorization.validBefore <= BigInt(now)) return given('authorization_expired')
  const verdict = await chain.verify(authorization, signature)
  if (!verdict.ok) return given(verdict.failure)
  const ask = await askOf(bench, authorization, signature)
  const verified = ask ? await facilitator.verify(ask) : noKind
  const word = ask && verified.kind === 'yes' ? await facilitator.settle(ask) : verified
  noteWord(bench, word)
  return (await lookFor(bench, authorization, word)) ? referee(bench, authorization, signature) : given('unavailable')
}

const noKind = { kind: 'none', reason: 'it does not support this network' } as const

/** Returns a refusal. It is not final before the window closes, because the facilitator may still send the bytes. */
function given(failure: SettleFailure): SettleResult {
  return { ok: false, failure, sent: true }
}

function noteWord(bench: Bench, word: ForeignWord): void {
  bench.lastFault = word.kind === 'yes' ? null : word.reason
  if (word.kind === 'yes') return
  bench.log.warn(
    { source: 'chain', facilitator: bench.facilitator.label, said: word.kind, reason: word.reason },
    'a facilitator did not settle',
  )
}

/** Waits until the authorization is used or the watching time ends; returns whether it was used. */
async function lookFor(bench: Bench, { from, nonce }: Authorization, { kind }: ForeignWord): Promise<boolean> {
  const until = bench.wall() + (bench.timings ?? lookTimings)[kind]
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LAST_LOOK_MS)) {
    const { used } = await bench.chain.authorizationState(from, nonce)
    if (used) return true
    if (bench.wall() >= until) return false
    await sleep(pause)
  }
}

/** Checks that a used authorization made exactly this transfer, and watches it until it is final. */
async function referee(bench: Bench, authorization: Authorization, signature: Hex): Promise<SettleResult> {
  const result = await bench.chain.settle(authorization, signature)
  if (!result.ok) return { ...result, sent: true }
  await bench.queue.followForeign({ authorization, signature }, result.transaction)
  return (await isSure(bench, authorization, result.transaction)) ? result : given('unavailable')
}

/** Whether a transfer is final enough. Payments above `instantLimit` wait for more finality. */
async function isSure(
  { chain, instantLimit, blockOf }: Bench,
  { from, nonce, value }: Authorization,
  transaction: Hex,
): Promise<boolean> {
  if (value <= instantLimit) return true
  const block = await blockOf(transaction)
  const { used, asOf }: AuthorizationState = await chain.authorizationState(from, nonce, 'confirmed')
  return used && block !== undefined && block <= asOf.block
}

/** Builds the request; undefined if the facilitator is not known to support an x402 version on this network. */
async function askOf(bench: Bench, authorization: Authorization, signature: Hex): Promise<ForeignAsk | undefined> {
  const { chain, facilitator } = bench
  const { network, caip2, asset } = chain
  bench.version ??= (await facilitator.kinds({ 1: network, 2: caip2 }))?.[0]
  const { version } = bench
  if (version === undefined) return undefined
  const fields = Object.entries(authorization).map(([name, value]) => [name, String(value)])
  const payload = { signature, authorization: Object.fromEntries(fields) }
  const amount = String(authorization.value)
  const terms = {
    scheme: 'exact',
    payTo: checksumAddress(authorization.to),
    asset: checksumAddress(asset.address),
    maxTimeoutSeconds: WINDOW_SECONDS,
    extra: { name: asset.name, version: asset.version },
  }
  if (version === 1) {
    const described = { resource: RESOURCE, description: '', mimeType: 'application/json' }
    return {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network, payload },
      paymentRequirements: { ...terms, ...described, network, maxAmountRequired: amount },
    }
  }
  const accepted = { ...terms, network: caip2, amount }
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, resource: { url: RESOURCE }, accepted, payload },
    paymentRequirements: accepted,
  }
}
