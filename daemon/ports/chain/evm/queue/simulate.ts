import type { Hex } from '../../../../../src/core/hex.ts'
import type { RpcAnswer, RpcCall } from '../rpc/endpoint.ts'
import { RpcUnavailableError } from '../rpc/unavailable.ts'
import { bytesIn, quantity } from '../rpc/values.ts'
import { type BatchedCall, batchCall, batchResults, isOfKey, transferCall } from './calldata.ts'
import type { Core, TransferWork } from './core.ts'

/** Gas for one transfer inside a batch: a first transfer to a payee takes about 60,000 behind the proxy of the real token. */
export const ITEM_GAS = 130_000
/** A payer with code may take more, alone. */
export const ALONE_GAS = 500_000
/** Around each call of a batch: its data, the copy of it and the loop. */
const ITEM_OVERHEAD_GAS = 14_000
const BASE_GAS = 60_000
/** The protocol takes no transaction far above it. */
export const MAX_TX_GAS = 16_000_000

/** What the token would say now: undefined for yes, or what it reverts with. */
export type TrialVerdict = { readonly revert: Hex } | undefined

export function batchGas(items: number): number {
  return Math.min(MAX_TX_GAS, BASE_GAS + items * (ITEM_GAS + ITEM_OVERHEAD_GAS))
}

export function batchedCalls(core: Core, works: readonly TransferWork[], gasCap: number): BatchedCall[] {
  const target = core.options.token
  return works.map(({ authorization, signature }) => ({ target, data: transferCall(authorization, signature), gasCap }))
}

/**
 * Asks the node what each transfer would do, with one verdict for the whole batch. Those whose payer has code are
 * marked to go alone. @throws RpcUnavailableError
 */
export async function simulate(core: Core, works: readonly TransferWork[]): Promise<Map<TransferWork, TrialVerdict>> {
  for (const work of works) if (!isOfKey(work.signature)) work.alone = true
  const keyed = works.filter(({ alone }) => !alone)
  const batched = core.options.batch ? keyed : []
  const single = works.filter((work) => !batched.includes(work))
  const codes = keyed.map(({ authorization }) => call('eth_getCode', [authorization.from, 'latest']))
  const asked = [...codes, ...single.map((work) => singleCall(core, work)), ...batchCalls(core, batched)]
  const { head, answers } = await core.options.rpc.read(asked)
  core.head = head
  core.headAt = core.options.wall()
  keyed.forEach((work, at) => {
    if (hasCode(answers[at])) work.alone = true
  })
  if (batched.some(({ alone }) => alone)) return simulate(core, works)
  const verdicts = new Map<TransferWork, TrialVerdict>()
  for (const [at, work] of single.entries()) verdicts.set(work, singleVerdict(core, answers[codes.length + at]))
  if (batched.length === 0) return verdicts
  const results = resultsIn(answers.at(-1), batched.length)
  if (results) for (const [at, work] of batched.entries()) verdicts.set(work, results[at])
  else await eachAlone(core, batched, verdicts)
  return verdicts
}

/** The whole batch had no verdict: each is asked about by itself. */
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

function batchCalls(core: Core, works: readonly TransferWork[]): RpcCall[] {
  const { batch, signer } = core.options
  if (!batch || works.length === 0) return []
  const data = batchCall(batch.kind, batchedCalls(core, works, ITEM_GAS))
  return [ethCall({ from: signer.address, to: batch.address, data, gas: batchGas(works.length) })]
}

/** Through the batch too where there is one: its answer is the contract's, whatever a node makes of reverts. */
function singleCall(core: Core, work: TransferWork): RpcCall {
  const { batch, signer, token } = core.options
  const [one] = batchedCalls(core, [work], ALONE_GAS)
  const gas = 2 * ALONE_GAS
  if (!batch || !one) {
    const data = transferCall(work.authorization, work.signature)
    return ethCall({ from: signer.address, to: token, data, gas })
  }
  return ethCall({ from: signer.address, to: batch.address, data: batchCall(batch.kind, [one]), gas })
}

function ethCall({ gas, ...rest }: { from: Hex; to: Hex; data: Hex; gas: number }): RpcCall {
  return call('eth_call', [{ ...rest, gas: quantity(gas) }, 'latest'])
}

function singleVerdict(core: Core, answer: RpcAnswer | undefined): TrialVerdict {
  if (!answer?.ok) {
    if (answer?.data === undefined) throw new RpcUnavailableError(`the node does not simulate: ${answer?.message}`)
    return { revert: answer.data }
  }
  if (!core.options.batch) return undefined
  const results = resultsIn(answer, 1)
  if (!results) throw new RpcUnavailableError('the answer of the batch is none')
  return results[0]
}

function resultsIn(answer: RpcAnswer | undefined, count: number): TrialVerdict[] | undefined {
  if (!answer?.ok) return undefined
  return batchResults(bytesIn(answer.result), count)?.map(({ ok, data }) => (ok ? undefined : { revert: data }))
}

function hasCode(answer: RpcAnswer | undefined): boolean {
  if (!answer?.ok) throw new RpcUnavailableError('the node does not tell code')
  return bytesIn(answer.result) !== '0x'
}

function call(method: string, params: readonly unknown[]): RpcCall {
  return { method, params }
}
