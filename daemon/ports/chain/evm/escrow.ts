import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { toFunctionSelector } from 'viem'
import { receiveDigest } from '../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { usdc } from '../../../../src/core/money.ts'
import { escrowStates } from '../../../../src/model/job.ts'
import type { EscrowAct, EscrowDeal, EscrowEnd, EscrowPort, EscrowResult, EscrowState, EscrowTerms } from '../escrow.ts'
import { type Signer, SignerUnavailableError } from '../key.ts'
import { escrowId } from '../signature.ts'
import type { OrderOutcome, TxQueue } from './queue/queue.ts'
import type { Reads } from './reads.ts'
import { type AbiMethod, type AbiType, encodeCall, encodeValues, method, topicOf } from './rpc/abi.ts'
import { RpcUnavailableError } from './rpc/values.ts'

const deals = method(
  'deals',
  ['bytes32'],
  ['address', 'uint64', 'uint8', 'bool', 'address', 'uint256', 'uint256', 'uint256'],
)
const paused = method('paused', [], ['bool'])
const totalHeld = method('totalHeld', [], ['uint256'])
/** ABI types of the terms, which are encoded as six consecutive words. */
const TERMS = ['bytes32', 'address', 'address', 'uint256', 'uint256', 'uint64'] as const
const TERMS_TYPE = '(bytes32,address,address,uint128,uint128,uint64)'
const depositSigned = written(`depositWithAuthorization(${TERMS_TYPE},address,uint256,uint256,bytes)`, [
  ...TERMS,
  'address',
  'uint256',
  'uint256',
  'bytes',
])
const resolve = method('resolve', ['bytes32', 'uint256'], [])
const extend = method('extend', ['bytes32', 'uint64'], [])
const ENFORCED_PAUSE = topicOf('EnforcedPause()').slice(0, 10)
/** Limit of attempts per order. A reverted transaction keeps its order id, so each new attempt needs a new id. */
const MAX_REVERTED = 5

/** Events by which money leaves the contract, with the job's state afterwards. */
const endEvents: ReadonlyMap<Hex, EscrowEnd['state']> = new Map([
  [topicOf('Released(bytes32,uint128,uint128)'), 'released'],
  [topicOf('Refunded(bytes32,address,uint256)'), 'refunded'],
  [topicOf('Resolved(bytes32,address,uint256,uint256,uint256)'), 'split'],
  [topicOf('TimedOut(bytes32,address,uint256)'), 'timed_out'],
  [topicOf('EmergencyWithdrawn(bytes32,address,uint256)'), 'withdrawn'],
])

export type EscrowParts = {
  readonly reads: Pick<Reads, 'call' | 'newestLogs' | 'asOf'>
  readonly queue: Pick<TxQueue, 'call'>
  readonly address: Wallet
  readonly chainId: number
  readonly separator: Uint8Array
  readonly payToKey: Signer
}

/** Opens the escrow of a connected chain. Writes go through the queue; reads come from the contract. */
export function openEscrow(parts: EscrowParts): EscrowPort {
  return {
    address: parts.address,
    deposit: (terms) => deposit(parts, terms).catch(unavailable),
    act: (act) => done(parts, { id: nameOf(act), data: dataOf(act), judge: () => judgeAct(parts, act) }),
    setPaused: (isPaused) => setPaused(parts, isPaused),
    dealOf: (job) => dealOf(parts, job),
    endOf: (job) => endOf(parts, job),
    status: async () => {
      const [[held], isPaused] = await Promise.all([
        parts.reads.call({ to: parts.address, method: totalHeld, values: [] }),
        pausedNow(parts),
      ])
      return { held: usdc(held), paused: isPaused }
    },
  }
}

/**
 * The escrow contracts of a marketplace as one. A contract pays one address for ever, so a rotated pay-to key has a
 * contract of its own: new jobs go there, and the money of older jobs leaves by the contract in which it lies.
 * @param contracts - the one for new jobs first
 */
export function openEscrows(contracts: () => readonly (EscrowPort & { readonly payTo: Wallet })[]): EscrowPort {
  const newest = () => {
    const [first] = contracts()
    if (!first) throw new Error('this chain has no escrow contract')
    return first
  }
  const holder = async (job: string): Promise<EscrowPort> => {
    const all = contracts()
    for (const one of all.length > 1 ? all : []) if ((await one.dealOf(job)).state !== 'none') return one
    return newest()
  }
  return {
    get address() {
      return newest().address
    },
    deposit: async (terms) => (contracts().find(({ payTo }) => payTo === terms.refundTo) ?? newest()).deposit(terms),
    act: async (act) => (await holder(act.job)).act(act),
    setPaused: async (isPaused) => {
      const results = await Promise.all(contracts().map((one) => one.setPaused(isPaused)))
      return results.find(({ ok }) => !ok) ?? results[0] ?? newest().setPaused(isPaused)
    },
    dealOf: async (job) => (await holder(job)).dealOf(job),
    endOf: async (job) => (await holder(job)).endOf(job),
    status: async () => {
      const all = await Promise.all(contracts().map((one) => one.status()))
      return { held: usdc(all.reduce((sum, { held }) => sum + held, 0n)), paused: all.some(({ paused }) => paused) }
    },
  }
}

function wordsOf({ job, buyer, refundTo, net, fee, deadline }: EscrowTerms) {
  return [escrowId(job), buyer, refundTo, net, fee, deadline] as const
}

async function deposit(parts: EscrowParts, terms: EscrowTerms): Promise<EscrowResult> {
  const { address, chainId, separator, payToKey } = parts
  const hashed = encodeValues(['uint256', 'address', ...TERMS], [BigInt(chainId), address, ...wordsOf(terms)])
  const nonce: Hex = `0x${bytesToHex(keccak_256(hexToBytes(hashed.slice(2))))}`
  // The window depends only on the terms, so all attempts send the same bytes.
  const window = { validAfter: 0n, validBefore: terms.deadline }
  const value = terms.net + terms.fee
  const signature = await payToKey.sign(
    receiveDigest(separator, { from: payToKey.address, to: address, value, nonce, ...window }),
  )
  const values = [...wordsOf(terms), payToKey.address, window.validAfter, window.validBefore, signature] as const
  const data = encodeCall(depositSigned, values)
  return done(parts, { id: `deposit:${terms.job}`, data, judge: () => judgeDeposit(parts, terms) })
}

/** Order id of a call. It includes the arguments, because a call with other arguments is another order. */
function nameOf(act: EscrowAct): string {
  const name = `${act.act}:${act.job}`
  if (act.act === 'resolve') return `${name}:${act.toBuyer}`
  return act.act === 'extend' ? `${name}:${act.deadline}` : name
}

function dataOf(act: EscrowAct): Hex {
  const id = escrowId(act.job)
  if (act.act === 'resolve') return encodeCall(resolve, [id, act.toBuyer])
  if (act.act === 'extend') return encodeCall(extend, [id, act.deadline])
  return encodeCall(method(act.act, ['bytes32'], []), [id])
}

async function setPaused(parts: EscrowParts, isPaused: boolean): Promise<EscrowResult> {
  const judge = async () => ((await pausedNow(parts)) === isPaused ? ({ ok: true, already: true } as const) : undefined)
  const known = await judge().catch(unavailable)
  if (known) return known
  const name = isPaused ? 'pause' : 'unpause'
  // A contract can be paused many times, so each order gets a new id.
  return done(parts, { id: `${name}:${crypto.randomUUID()}`, data: encodeCall(method(name, [], []), []), judge })
}

type Order = {
  readonly id: string
  readonly data: Hex
  /** Asks the contract whether the order is done already or can never succeed; undefined if neither. */
  readonly judge: () => Promise<EscrowResult | undefined>
}

async function done(parts: EscrowParts, { id, data, judge }: Order): Promise<EscrowResult> {
  const { queue, address } = parts
  for (let attempt = 1; attempt <= MAX_REVERTED; attempt += 1) {
    const outcome = await queue.call({ id: `escrow:${address}:${id}:${attempt}`, to: address, data })
    if (outcome.ok) return { ok: true, already: outcome.already, transaction: outcome.transaction }
    if (outcome.failure === 'unavailable') return { ok: false, failure: 'unavailable' }
    const judged = await judge().catch(unavailable)
    if (judged) return judged
    if (!outcome.sent) return refused(outcome)
  }
  return { ok: false, failure: 'refused', reason: `it reverted ${MAX_REVERTED} times` }
}

function refused({ data = '0x' }: Extract<OrderOutcome, { ok: false }>): EscrowResult {
  if (data.startsWith(ENFORCED_PAUSE)) return { ok: false, failure: 'paused' }
  return { ok: false, failure: 'refused', reason: data === '0x' ? 'the contract gave no reason' : data }
}

function unavailable(error: unknown): EscrowResult {
  if (error instanceof RpcUnavailableError || error instanceof SignerUnavailableError)
    return { ok: false, failure: 'unavailable' }
  throw error
}

async function judgeDeposit(parts: EscrowParts, terms: EscrowTerms): Promise<EscrowResult | undefined> {
  const deal = await dealOf(parts, terms.job)
  if (deal.state === 'none') return undefined
  const { buyer, refundTo, net, fee, deadline } = terms
  // The deposit may have a later deadline than `terms`; nothing else may differ.
  const isSame = deal.buyer === buyer && deal.refundTo === refundTo && deal.net === net && deal.fee === fee
  return isSame && deal.deadline >= deadline ? { ok: true, already: true } : { ok: false, failure: 'other_terms' }
}

const wantedEnd: Partial<Record<EscrowAct['act'], EscrowState>> = {
  release: 'released',
  refund: 'refunded',
  resolve: 'split',
  emergencyWithdraw: 'withdrawn',
}

async function judgeAct(parts: EscrowParts, act: EscrowAct): Promise<EscrowResult | undefined> {
  const deal = await dealOf(parts, act.job)
  if (deal.state === 'none') return { ok: false, failure: 'not_held' }
  if (isDone(deal, act)) return { ok: true, already: true }
  return deal.state === 'held' ? undefined : { ok: false, failure: 'ended', reason: deal.state }
}

function isDone({ state, deadline, timeoutClosed, toBuyer }: EscrowDeal, act: EscrowAct): boolean {
  if (state !== 'held') return state === wantedEnd[act.act] && (act.act !== 'resolve' || toBuyer === act.toBuyer)
  if (act.act === 'extend') return deadline >= act.deadline
  return timeoutClosed && (act.act === 'markDelivered' || act.act === 'markDisputed')
}

/** Reads from events how the deal ended, because nodes drop old state. */
async function endOf(parts: EscrowParts, job: string): Promise<EscrowEnd | undefined> {
  const { reads, address } = parts
  const { state } = await dealOf(parts, job)
  if (!isEnd(state)) return undefined
  const [event] = await reads.newestLogs({ address, topics: [[...endEvents.keys()], escrowId(job)] }, 1)
  const { block } = await reads.asOf('final')
  const told = event?.topics[0] && endEvents.get(event.topics[0])
  if (event && told) return { state: told, transaction: event.transaction, isFinal: event.block <= block }
  return { state, isFinal: (await dealOf(parts, job, block)).state === state }
}

function isEnd(state: EscrowState): state is EscrowEnd['state'] {
  return state !== 'none' && state !== 'held'
}

async function dealOf({ reads, address }: EscrowParts, job: string, block?: number): Promise<EscrowDeal> {
  const at = block === undefined ? {} : { block }
  const answer = await reads.call({ to: address, method: deals, values: [escrowId(job)], ...at })
  const [buyer, deadline, number, timeoutClosed, refundTo, net, fee, toBuyer] = answer
  const state = escrowStates[Number(number)]
  if (state === undefined) throw new RpcUnavailableError(`the escrow contract returned an unknown state, ${number}`)
  return { buyer, deadline, state, timeoutClosed, refundTo, net: usdc(net), fee: usdc(fee), toBuyer: usdc(toBuyer) }
}

async function pausedNow({ reads, address }: EscrowParts): Promise<boolean> {
  return (await reads.call({ to: address, method: paused, values: [] }))[0]
}

/** An ABI method with a literal signature, for struct parameters. */
function written<const In extends readonly AbiType[]>(signature: string, takes: In): AbiMethod<In, []> {
  return { selector: toFunctionSelector(signature), takes, gives: [] }
}
