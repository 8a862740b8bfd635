import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { RpcAnswer, RpcCall } from '../rpc/endpoint.ts'
import { bytesIn, type Head, quantity, RpcUnavailableError } from '../rpc/values.ts'
import {
  type BatchedCall,
  batchCall,
  batchResults,
  isOfKey,
  probeAnswer,
  probeCall,
  transferCall,
  transfersCall,
} from './calldata.ts'
import { type Core, seeHead, type TransferWork } from './core.ts'

/** Gas limit of one batched transfer. The first transfer to a wallet takes about 60,000 with the real token. */
export const ITEM_GAS = 130_000
/** Gas limit of a single transfer from a payer with code. */
export const ALONE_GAS = 500_000
/** Gas that a batch adds to each of its calls: for data, copy and loop. */
const ITEM_OVERHEAD_GAS = 14_000
const BASE_GAS = 60_000
/** Gas overhead of a probe: for its code, and for the returned data, which costs as much as code. */
const PROBE_GAS = 6_000_000
/** Gas limit of a transaction, just below the protocol's limit. */
export const MAX_TX_GAS = 16_000_000

/** Result of a simulated transfer: undefined for success, or the token's revert data. */
export type TrialVerdict = { readonly revert: Hex } | undefined

export function batchGas(items: number): number {
  return Math.min(MAX_TX_GAS, BASE_GAS + items * (ITEM_GAS + ITEM_OVERHEAD_GAS))
}

export function batchedCalls(core: Core, works: readonly TransferWork[], gasCap: number): BatchedCall[] {
  const target = core.options.token
  return works.map(({ authorization, signature }) => ({ target, data: transferCall(authorization, signature), gasCap }))
}

/**
 * Simulates transfers, batched ones in one call if possible. Marks those that are sent alone: their payer has code.
 * @throws RpcUnavailableError
 */
export async function simulate(core: Core, works: readonly TransferWork[]): Promise<Map<TransferWork, TrialVerdict>> {
  for (const work of works) if (!isOfKey(work.signature)) work.alone = true
  const keyed = works.filter(({ alone }) => !alone)
  const batched = core.options.batch ? keyed : []
  const single = works.filter((work) => !batched.includes(work))
  const trial = { keyed, batched, single }
  const { head, coded, batch, singles } = (await probed(core, trial)) ?? (await asked(core, trial))
  seeHead(core, head)
  keyed.forEach((work, at) => {
    if (coded[at]) work.alone = true
  })
  if (batched.some(({ alone }) => alone)) return simulate(core, works)
  const verdicts = new Map<TransferWork, TrialVerdict>()
  for (const [at, work] of single.entries()) verdicts.set(work, singleVerdict(core, singles[at]))
  if (batched.length === 0) return verdicts
  const results = resultsIn(batch, batched.length)
  if (results) for (const [at, work] of batched.entries()) verdicts.set(work, results[at])
  else await eachAlone(core, batched, verdicts)
  return verdicts
}

type Trial = {
  readonly keyed: readonly TransferWork[]
  readonly batched: readonly TransferWork[]
  readonly single: readonly TransferWork[]
}
type SimulationResponse = {
  readonly head: Head
  /** Whether each payer has code. */
  readonly coded: readonly boolean[]
  /** Result of the whole batch; undefined if the batch failed. */
  readonly batch: Hex | undefined
  readonly singles: readonly RpcAnswer[]
}

/**
 * Asks in one request which payers have code and whether the batch succeeds. Undefined if there is no batch to
 * simulate, or if the request is too long or refused.
 */
async function probed(core: Core, { keyed, batched, single }: Trial): Promise<SimulationResponse | undefined> {
  const whole = batchTrial(core, batched)
  if (!whole) return undefined
  const accounts = keyed.map(({ authorization }) => authorization.from)
  const question = { accounts, calls: [{ target: whole.to, data: whole.data, gasCap: whole.gas }] }
  const data = probeCall(question)
  if (!data) return undefined
  const probe = { from: core.sender.signer.address, data, gas: whole.gas + PROBE_GAS }
  const { head, answers } = await core.options.rpc.read([
    ethCall(probe),
    ...single.map((work) => singleCall(core, work)),
  ])
  const [answer, ...singles] = answers
  const said = answer?.ok ? probeAnswer(bytesIn(answer.result), question) : undefined
  const [result] = said?.results ?? []
  return said && { head, coded: said.coded, batch: result?.ok ? result.data : undefined, singles }
}

/** Asks in separate calls which payers have code and, if there is a batch, whether it succeeds. */
async function asked(core: Core, { keyed, batched, single }: Trial): Promise<SimulationResponse> {
  const whole = batchTrial(core, batched)
  const { head, answers } = await core.options.rpc.read([
    ...keyed.map(({ authorization }) => call('eth_getCode', [authorization.from, 'latest'])),
    ...single.map((work) => singleCall(core, work)),
    ...(whole ? [ethCall(whole)] : []),
  ])
  const batch = whole && answers.at(-1)
  return {
    head,
    coded: keyed.map((_, at) => hasCode(answers[at])),
    batch: batch?.ok ? bytesIn(batch.result) : undefined,
    singles: answers.slice(keyed.length, keyed.length + single.length),
  }
}

/** Simulates each transfer separately, and marks it to be sent alone. */
async function eachAlone(
  core: Core,
  works: readonly TransferWork[],
  into: Map<TransferWork, TrialVerdict>,
): Promise<void> {
  const { answers } = await core.options.rpc.read(works.map((work) => singleCall(core, work)))
  works.forEach((work, at) => {
    work.alone = true
    into.set(work, singleVerdict(core, answers[at]))
  })
}

type TrialCall = { readonly from: Hex; readonly to: Wallet; readonly data: Hex; readonly gas: number }

function batchTrial(core: Core, works: readonly TransferWork[]): TrialCall | undefined {
  const { batch } = core.options
  const { signer } = core.sender
  if (!batch || works.length === 0) return undefined
  const data = transfersCall(batch.kind, batchedCalls(core, works, ITEM_GAS))
  return { from: signer.address, to: batch.address, data, gas: batchGas(works.length) }
}

/** Call that simulates one transfer. Prefers the batch contract, whose answer is the same on every node. */
function singleCall(core: Core, work: TransferWork): RpcCall {
  const { batch, token } = core.options
  const { signer } = core.sender
  const [one] = batchedCalls(core, [work], ALONE_GAS)
  const gas = 2 * ALONE_GAS
  if (!batch || !one) {
    const data = transferCall(work.authorization, work.signature)
    return ethCall({ from: signer.address, to: token, data, gas })
  }
  return ethCall({ from: signer.address, to: batch.address, data: batchCall(batch.kind, [one]), gas })
}

function ethCall({ gas, ...rest }: Omit<TrialCall, 'to'> & { to?: Wallet }): RpcCall {
  return call('eth_call', [{ ...rest, gas: quantity(gas) }, 'latest'])
}

function singleVerdict(core: Core, answer: RpcAnswer | undefined): TrialVerdict {
  if (!answer?.ok) {
    if (answer?.data === undefined) throw new RpcUnavailableError(`the node cannot simulate: ${answer?.message}`)
    return { revert: answer.data }
  }
  if (!core.options.batch) return undefined
  const results = resultsIn(bytesIn(answer.result), 1)
  if (!results) throw new RpcUnavailableError('the batch call returned nothing')
  return results[0]
}

function resultsIn(returned: Hex | undefined, count: number): TrialVerdict[] | undefined {
  if (returned === undefined) return undefined
  return batchResults(returned, count)?.map(({ ok, data }) => (ok ? undefined : { revert: data }))
}

function hasCode(answer: RpcAnswer | undefined): boolean {
  if (!answer?.ok) throw new RpcUnavailableError('the node did not return the code of an address')
  return bytesIn(answer.result) !== '0x'
}

function call(method: string, params: readonly unknown[]): RpcCall {
  return { method, params }
}
