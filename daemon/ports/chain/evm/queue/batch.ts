import type { Hex } from '../../../../../src/core/hex.ts'
import { compact } from '../../../../../src/core/record.ts'
import { SignerUnavailableError } from '../../key.ts'
import { bigIn, numberIn, RpcUnavailableError } from '../rpc/values.ts'
import { assign, type Parcel, transferPayload, transmit } from './assign.ts'
import {
  type CallWork,
  type Core,
  type GasSender,
  inFlight,
  isClosed,
  noteError,
  pass,
  seeHead,
  sendable,
  senderOf,
  type TransferWork,
} from './core.ts'
import { type Fees, firstFees } from './fees.ts'
import { called, failureOf, refused, sentFacts, settled } from './outcome.ts'
import { MAX_TX_GAS, simulate } from './simulate.ts'
import { findUse } from './used.ts'

const REFRESH_MS = 10_000
/** Refresh interval of gas balance and tip while nothing can be sent. */
const HELD_REFRESH_MS = 500
/** Default tip in wei, if the node gives none. */
const DEFAULT_TIP = 1_000_000n

/** Refreshes gas balance and tip if outdated. @throws RpcUnavailableError */
async function lookIntoPurse(core: Core): Promise<void> {
  const { rpc, wall, maxFee } = core.options
  const { signer } = core.sender
  const age = wall() - core.purseAt
  if (age < (core.held === undefined ? REFRESH_MS : HELD_REFRESH_MS)) return
  const { head, answers } = await rpc.read([
    { method: 'eth_getBalance', params: [signer.address, 'latest'] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ])
  const [balance, tip] = answers
  if (balance?.ok) core.gasBalance = bigIn(balance.result)
  const asked = tip?.ok ? bigIn(tip.result) : DEFAULT_TIP
  core.tip = asked < maxFee ? asked : maxFee
  seeHead(core, head)
  core.purseAt = wall()
}

/** Fees for an amount of gas; sets `core.held` if the fee limit or the gas balance does not allow them. */
function feesFor(core: Core, gas: number, sender: GasSender): Fees | undefined {
  const fees = firstFees({ baseFee: core.head?.baseFee ?? 0n, tip: core.tip }, core.options.maxFee)
  core.held = fees ? undefined : 'fee'
  // The balance of a replaced key is not watched.
  if (!fees || sender !== core.sender) return fees
  const promised = inFlight(core).reduce(
    (sum, { row }) => sum + BigInt(row.gas) * (row.sends.at(-1)?.max_fee ?? 0n),
    0n,
  )
  if ((core.gasBalance ?? 0n) >= promised + BigInt(gas) * fees.maxFee) return fees
  core.held = 'gas'
  return undefined
}

/** Limit of unmined transactions; nodes keep about 16 pending ones per sender. */
export const MAX_IN_FLIGHT = 12
export const MAX_BATCH = 100
const WINDOW_MS = { least: 4, most: 250, share: 8 } as const
/** Longest wait for the expected number of orders in a batch. */
const CROWD_WINDOW_MS = 20
/** Factor by which the expected batch size decays. */
const CROWD_SHARE = 0.75
const RETRY_MS = 100
const HELD_MS = 500
/** Transfers go before a call until the call has waited this long. */
const CALL_PATIENCE_MS = 2_000
/** A call fails if its gas cannot be estimated within this many times `waitMs`. */
const CALL_WAITS = 10
/** A transfer is refused when its `tries` reach this number. */
const MAX_TRIES = 2
const MS = 1_000

/** Batching window while transactions are in flight, in milliseconds. */
export function windowMs(inclusionMs: number): number {
  return Math.min(WINDOW_MS.most, Math.max(WINDOW_MS.least, inclusionMs / WINDOW_MS.share))
}

/** Turns waiting orders into transactions until the queue closes. */
export async function runPump(core: Core): Promise<void> {
  while (!isClosed(core)) {
    await untilDue(core)
    if (isClosed(core)) return
    try {
      await lookIntoPurse(core)
      core.isAssembling = true
      await assemble(core)
      core.isAssembling = false
      if (core.held !== undefined) await core.pump.wait(HELD_MS)
    } catch (error) {
      noteError(core, error)
      core.isAssembling = false
      await core.pump.wait(pauseAfter(core, error))
    }
  }
}

function pauseAfter(core: Core, error: unknown): number {
  if (error instanceof SignerUnavailableError) core.held = 'signer'
  return core.held === undefined ? RETRY_MS : HELD_MS
}

async function untilDue(core: Core): Promise<void> {
  const { wall, maxInFlight = MAX_IN_FLIGHT } = core.options
  const first = () => sendable(core).reduce((least, { notBefore }) => Math.min(least, notBefore), Infinity)
  while (!isClosed(core) && (first() > wall() || inFlight(core).length >= maxInFlight)) {
    const due = inFlight(core).length >= maxInFlight ? Infinity : first()
    await core.pump.wait(due === Infinity ? undefined : Math.max(1, due - wall()))
  }
  await untilGathered(core)
}

/** Waits for more orders to batch. Does not wait if nothing is in flight and the last batch was a single order. */
async function untilGathered(core: Core): Promise<void> {
  const { wall, maxBatch = MAX_BATCH } = core.options
  const from = wall()
  const isCrowd = core.crowd > 1
  for (;;) {
    const isBusy = inFlight(core).length > 0
    const enough = Math.min(maxBatch, isBusy && !isCrowd ? maxBatch : core.crowd)
    const window = Math.max(isBusy ? windowMs(core.inclusionMs) : 0, isCrowd ? CROWD_WINDOW_MS : 0)
    const left = from + window - wall()
    if (isClosed(core) || sendable(core).length >= enough || left <= 0) return
    await core.pump.wait(Math.max(1, left))
  }
}

async function assemble(core: Core): Promise<void> {
  const now = core.options.wall()
  const due = sendable(core).filter(({ notBefore }) => notBefore <= now)
  const call = due.find((work) => work.kind === 'call')
  const transfers = due.filter((work) => work.kind === 'transfer')
  const isCallsTurn = call && (transfers.length === 0 || now - call.at > CALL_PATIENCE_MS)
  if (isCallsTurn) await assembleCall(core, call)
  const first = [...transfers.filter(isPayment), ...transfers.filter((work) => !isPayment(work))]
  if (first.length > 0) await assembleTransfers(core, first.slice(0, core.options.maxBatch ?? MAX_BATCH))
}

function isPayment({ priority }: TransferWork): boolean {
  return priority === 'payment'
}

async function assembleTransfers(core: Core, taken: readonly TransferWork[]): Promise<void> {
  await pass(core, 'before_simulation')
  const live = taken.filter((work) => !isExpired(core, work))
  if (live.length === 0) return
  const verdicts = await simulate(core, live)
  const good: TransferWork[] = []
  for (const work of live) {
    const verdict = verdicts.get(work)
    if (verdict === undefined) core.tokenPaused = false
    if (verdict === undefined || isOnlyEarly(core, work, verdict.revert)) good.push(work)
    else await decline(core, work, verdict.revert)
  }
  core.crowd = Math.max(good.length, Math.floor(core.crowd * CROWD_SHARE))
  for (const works of grouped(core, good)) if (!(await goes(core, works))) return
}

/** Refuses an order that expired before a transaction was signed for it. Ignores the chain's clock, which may lag. */
function isExpired(core: Core, work: TransferWork): boolean {
  if (work.undone !== undefined || core.options.wall() < Number(work.authorization.validBefore) * MS) return false
  if (work.since !== undefined) return false
  leave(core, work)
  refused(core, work, 'authorization_expired')
  return true
}

/**
 * Whether a simulation's "not yet valid" can be ignored. Nodes simulate at the time of their latest block, which can
 * lag behind the clock.
 */
function isOnlyEarly({ options }: Core, { authorization }: TransferWork, revert: Hex): boolean {
  if (failureOf(revert) !== 'authorization_not_yet_valid') return false
  return options.wall() > (Number(authorization.validAfter) + 1) * MS
}

/** Groups orders by transaction: the batch first, then single orders. */
function grouped(core: Core, works: readonly TransferWork[]): TransferWork[][] {
  const together = core.options.batch ? works.filter(({ alone, tries }) => !alone && tries === 0) : []
  const alone = works.filter((work) => !together.includes(work)).map((work) => [work])
  return together.length > 0 ? [together, ...alone] : alone
}

/** Sends orders in one transaction. @returns false if they must wait */
async function goes(core: Core, works: readonly TransferWork[]): Promise<boolean> {
  if (isClosed(core) || core.isHeld) return false
  const [only] = works
  if (works.length === 1 && only && only.tries >= MAX_TRIES) {
    leave(core, only)
    refused(core, only, 'reverted')
    return true
  }
  const payload = transferPayload(core, works)
  const { sender } = core
  const fees = roomFor(core, payload.gas, sender)
  if (!fees) return false
  await post(core, { works, payload, fees, sender })
  core.options.observe?.({ kind: 'sent', what: works.length > 1 ? 'batch' : 'single', items: works.length })
  return true
}

function roomFor(core: Core, gas: number, sender: GasSender): Fees | undefined {
  return inFlight(core).length < (core.options.maxInFlight ?? MAX_IN_FLIGHT) ? feesFor(core, gas, sender) : undefined
}

async function post(core: Core, parcel: Parcel): Promise<void> {
  const tx = await assign(core, parcel)
  for (const work of parcel.works) leave(core, work)
  transmit(core, tx)
}

function leave(core: Core, work: TransferWork | CallWork): void {
  core.waiting = core.waiting.filter((other) => other !== work)
}

/** Ends an order that the token would refuse. The order has settled if its authorization moved the money already. */
async function decline(core: Core, work: TransferWork, revert: Hex): Promise<void> {
  const failure = failureOf(revert)
  if (failure === 'token_paused') core.tokenPaused = true
  if (failure !== 'authorization_used') {
    leave(core, work)
    refused(core, work, failure)
    return
  }
  const use = await findUse(core, work)
  leave(core, work)
  if (use?.how === 'moved') settled(core, work, { transaction: use.transaction, already: true })
  else if (use?.how === 'cancelled') refused(core, work, 'authorization_cancelled')
  // Without an event, our own transaction probably used the nonce and this node lags, so the outcome is unknown.
  else refused(core, work, use === undefined && work.since !== undefined ? 'unavailable' : 'authorization_used')
}

async function assembleCall(core: Core, work: CallWork): Promise<void> {
  const { to, data } = work.order
  if (work.tries > 0) {
    leave(core, work)
    called(core, work, { ok: false, failure: 'reverted', ...sentFacts(work) })
    return
  }
  const { from, leaves } = work.order
  const gas = work.order.gas ?? (await estimate(core, work))
  if (gas === undefined || (core.isHeld && from === undefined)) return
  const sender = senderOf(core, from)
  const fees = roomFor(core, gas, sender)
  if (!fees) return
  const value = leaves === undefined ? undefined : (await etherOf(core, sender)) - leaves - BigInt(gas) * fees.maxFee
  if (value !== undefined && value <= 0n) {
    leave(core, work)
    called(core, work, { ok: false, failure: 'reverted', sent: false })
    return
  }
  await post(core, { works: [work], payload: { to, data, gas, ...compact({ value }) }, fees, sender })
  core.options.observe?.({ kind: 'sent', what: 'call', items: 1 })
}

async function etherOf({ options }: Core, { signer }: GasSender): Promise<bigint> {
  return bigIn(await options.rpc.ask('eth_getBalance', [signer.address, 'latest']))
}

/** Estimated gas of a call, with a margin; undefined if the call is refused or must wait. */
async function estimate(core: Core, work: CallWork): Promise<number | undefined> {
  const { rpc, wall, timings } = core.options
  const { to, data, from = core.sender.signer.address } = work.order
  const params = [{ from, to, data }]
  const { head, answers } = await rpc.read([{ method: 'eth_estimateGas', params }])
  seeHead(core, head)
  const [answer] = answers
  if (answer?.ok) return Math.min(MAX_TX_GAS, Math.ceil(numberIn(answer.result) * 1.25))
  const revert = answer?.data
  if (revert === undefined && wall() - work.at < CALL_WAITS * timings.waitMs) {
    work.notBefore = wall() + MS
    noteError(core, new RpcUnavailableError(`the node cannot estimate gas: ${answer?.message}`))
    return undefined
  }
  leave(core, work)
  const failure = revert === undefined ? 'unavailable' : 'reverted'
  called(core, work, { ok: false, failure, ...sentFacts(work), ...(revert ? { data: revert } : {}) })
  return undefined
}
