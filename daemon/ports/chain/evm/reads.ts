import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'
import { isObject } from '../../../../src/core/json.ts'
import type { AsOf, Finality } from '../chain.ts'
import { probeAnswer, probeCall } from './queue/calldata.ts'
import { type AbiMethod, type AbiType, decodeValues, encodeCall, type ValuesOf } from './rpc/abi.ts'
import type { RpcAnswer, RpcCall } from './rpc/endpoint.ts'
import type { Rpc } from './rpc/rpc.ts'
import { openTags } from './rpc/tags.ts'
import { bytesIn, type Head, headIn, isHex, numberIn, quantity, RpcUnavailableError } from './rpc/values.ts'

/** Questions that arrive within this time are batched. */
const GATHER_MS = 2

/** Batches concurrent questions. A single question is not delayed. */
export function gather<Q, A>(askAll: (questions: readonly Q[]) => Promise<readonly A[]>): (question: Q) => Promise<A> {
  let waiting: { question: Q; settled: PromiseWithResolvers<A> }[] = []
  let asking = 0
  async function send(): Promise<void> {
    const batch = waiting
    waiting = []
    asking += 1
    try {
      const answers = await askAll(batch.map(({ question }) => question))
      for (const [at, { settled }] of batch.entries()) {
        const answer = answers[at]
        if (answer === undefined) settled.reject(new RpcUnavailableError('a call got no response'))
        else settled.resolve(answer)
      }
    } catch (error) {
      for (const { settled } of batch) settled.reject(error)
    } finally {
      asking -= 1
    }
  }
  return (question) => {
    if (waiting.length === 0) {
      if (asking === 0) setImmediate(() => void send())
      else setTimeout(() => void send(), GATHER_MS)
    }
    const settled = Promise.withResolvers<A>()
    waiting.push({ question, settled })
    return settled.promise
  }
}

const AGAIN_MS = 50
/** Blocks per log query: the limit of hosted nodes. */
const LOG_SLICE = 2_000
/** Maximum number of queries. Together they cover about 55 hours of 2 s blocks. */
const MAX_SLICES = 50
/** JSON-RPC code of a revert. */
const REVERTED_CODE = 3

export class CallReverted extends Error {
  override readonly name = 'CallReverted'
  /** Revert data if known. */
  readonly data: Hex | undefined
  constructor(message: string, data?: Hex) {
    super(message)
    this.data = data
  }
}

/** The node could not run a call, for example because the call ran out of gas. */
export class CallFailed extends RpcUnavailableError {}

export type Question<In extends readonly AbiType[], Out extends readonly AbiType[]> = {
  readonly to: Wallet
  readonly method: AbiMethod<In, Out>
  readonly values: ValuesOf<In>
  readonly from?: Wallet
  readonly gas?: number
  /** Block (default: latest). */
  readonly block?: number
}

export type LogFilter = {
  readonly address: Wallet | readonly Wallet[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}
export type FoundLog = {
  readonly address: Wallet
  readonly transaction: Hex
  readonly block: number
  readonly index: number
  readonly topics: readonly Hex[]
  readonly data: Hex
}

type AnswerOf = (call: RpcCall) => Promise<{ readonly head: Head; readonly answer: RpcAnswer }>

/** Batched chain reads. All throw RpcUnavailableError when no node answers. */
export type Reads = {
  /** @throws CallReverted; RpcUnavailableError, also for an invalid answer */
  call<In extends readonly AbiType[], Out extends readonly AbiType[]>(
    question: Question<In, Out>,
  ): Promise<ValuesOf<Out>>
  /** Calls known contracts cheaply, many in one request. @throws CallReverted, RpcUnavailableError */
  view<In extends readonly AbiType[], Out extends readonly AbiType[]>(
    question: Pick<Question<In, Out>, 'to' | 'method' | 'values'>,
  ): Promise<ValuesOf<Out>>
  /** Simulates a call and returns its result. @throws CallReverted, RpcUnavailableError */
  trial(call: { readonly from: Wallet; readonly to: Wallet; readonly data: Hex; readonly gas: number }): Promise<Hex>
  /** Result of a JSON-RPC method, and the latest block when it was read. */
  ask(method: string, params: readonly unknown[]): Promise<{ readonly head: Head; readonly result: unknown }>
  /** The latest block with this finality. */
  asOf(finality: Finality): Promise<AsOf>
  code(address: Wallet): Promise<Hex>
  /** Logs of a transaction; empty if it is in no block. */
  logsOf(transaction: Hex): Promise<readonly FoundLog[]>
  /** Up to `limit` logs, newest first. Searches at most `MAX_SLICES` slices, back to `fromBlock`. */
  newestLogs(filter: LogFilter, limit: number): Promise<readonly FoundLog[]>
}

export type ReadsParts = {
  readonly rpc: Pick<Rpc, 'read' | 'readDated'>
  /** Searches stop here. */
  readonly fromBlock: number
  /** True for a devnet, which has no reorganisations. */
  readonly isHeadFinal: boolean
}

export function openReads({ rpc, fromBlock, isHeadFinal }: ReadsParts): Reads {
  const answerOf = askedAgain(gathered(rpc))
  const view = openViews(rpc)

  async function ask(method: string, params: readonly unknown[]) {
    const { head, answer } = await answerOf({ method, params })
    if (!answer.ok) throw new RpcUnavailableError(`${method}: ${answer.message}`)
    return { head, result: answer.result }
  }

  return {
    ask,
    trial: async ({ gas, ...call }) => {
      const { answer } = await answerOf({ method: 'eth_call', params: [{ ...call, gas: quantity(gas) }, 'latest'] })
      if (!answer.ok) throw refusalOf(answer)
      return bytesIn(answer.result)
    },
    call: async ({ to, method, values, from, gas, block }) => {
      const asked = {
        to,
        data: encodeCall(method, values),
        ...(from ? { from } : {}),
        ...(gas ? { gas: quantity(gas) } : {}),
      }
      const at = block === undefined ? 'latest' : quantity(block)
      const { answer } = await answerOf({ method: 'eth_call', params: [asked, at] })
      return decoded(answer, to, method.gives)
    },
    view: async ({ to, method, values }) => {
      const asked = { to, data: encodeCall(method, values) }
      const answer = (await view(asked)) ?? (await answerOf({ method: 'eth_call', params: [asked, 'latest'] })).answer
      return decoded(answer, to, method.gives)
    },
    asOf: openAsOf({ answerOf, ask, isHeadFinal }),
    code: async (address) => bytesIn((await ask('eth_getCode', [address, 'latest'])).result),
    logsOf: async (transaction) => {
      const { result } = await ask('eth_getTransactionReceipt', [transaction])
      return isObject(result) ? logsIn(result['logs']) : []
    },
    newestLogs: (filter, limit) => newestLogs(ask, { ...filter, fromBlock, limit }),
  }
}

type Asking = Pick<Reads, 'ask'> & Pick<ReadsParts, 'isHeadFinal'> & { readonly answerOf: AnswerOf }

/** Finds blocks by the node's tags, or by depth if the node does not know the tags. */
function openAsOf({ answerOf, ask, isHeadFinal }: Asking): Reads['asOf'] {
  const tags = openTags()
  return async (finality) => {
    if (finality === 'included' || isHeadFinal) {
      const { number, timestamp } = (await ask('eth_chainId', [])).head
      return { block: number, timestamp, finality: isHeadFinal ? 'final' : 'included' }
    }
    const tag = finality === 'final' ? 'finalized' : 'safe'
    const { head, answer } = await answerOf({ method: 'eth_getBlockByNumber', params: [tag, false] })
    const told = tags.read(tag, answer, head)
    if (told === undefined) throw new RpcUnavailableError(`the node did not return its ${tag} block`)
    const isNumber = typeof told === 'number'
    const block = isNumber ? headIn((await ask('eth_getBlockByNumber', [quantity(told), false])).result) : told
    return { block: block.number, timestamp: block.timestamp, finality }
  }
}

type Search = LogFilter & { readonly fromBlock: number; readonly limit: number }

async function newestLogs(ask: Reads['ask'], { fromBlock, limit, ...filter }: Search): Promise<readonly FoundLog[]> {
  const found: FoundLog[] = []
  let { number: to } = (await ask('eth_chainId', [])).head
  for (let slice = 0; slice < MAX_SLICES && to >= fromBlock && found.length < limit; slice += 1) {
    const from = Math.max(fromBlock, to - LOG_SLICE + 1)
    const range = { ...filter, fromBlock: quantity(from), toBlock: quantity(to) }
    const logs = logsIn((await ask('eth_getLogs', [range])).result)
    found.push(...logs.toReversed())
    to = from - 1
  }
  return found.slice(0, limit)
}

/** @throws CallReverted; RpcUnavailableError, also for a malformed answer */
function decoded<const Out extends readonly AbiType[]>(answer: RpcAnswer, contract: Wallet, gives: Out): ValuesOf<Out> {
  if (!answer.ok) throw refusalOf(answer)
  try {
    return decodeValues(gives, bytesIn(answer.result))
  } catch (error) {
    if (error instanceof RangeError)
      throw new RpcUnavailableError(`${contract} is not the expected contract: ${error.message}`)
    throw error
  }
}

type RpcRefusal = Extract<RpcAnswer, { ok: false }>

function isRevert({ code, data }: RpcRefusal): boolean {
  return code === REVERTED_CODE || data !== undefined
}

function refusalOf(refusal: RpcRefusal): Error {
  const { message, data } = refusal
  return isRevert(refusal) ? new CallReverted(message, data) : new CallFailed(message)
}

/** Retries a node error once, because some nodes fail while a block arrives. */
function askedAgain(ask: AnswerOf): AnswerOf {
  return async (call) => {
    const first = await ask(call)
    if (first.answer.ok || isRevert(first.answer)) return first
    await sleep(AGAIN_MS)
    return ask(call)
  }
}

function gathered(rpc: ReadsParts['rpc']): AnswerOf {
  return gather(async (calls) => {
    const { head, answers } = await rpc.read(calls)
    return answers.map((answer) => ({ head, answer }))
  })
}

export function logsIn(result: unknown): FoundLog[] {
  if (!Array.isArray(result)) throw new RpcUnavailableError('the node did not return a list of logs')
  return result.map((log: unknown) => {
    if (!isObject(log) || !Array.isArray(log['topics']))
      throw new RpcUnavailableError('the node returned an invalid log')
    return {
      address: toWallet(bytesIn(log['address'])),
      transaction: bytesIn(log['transactionHash']),
      block: numberIn(log['blockNumber']),
      index: numberIn(log['logIndex']),
      topics: log['topics'].map(bytesIn),
      data: bytesIn(log['data']),
    }
  })
}

/** Gas limit of one view call; reading a balance of the real token takes about 10,000. */
const VIEW_GAS = 200_000
/** Views per request. */
const MAX_VIEWS = 100

type View = { readonly to: Wallet; readonly data: Hex }
/** The batch's answer to a call of a view function. Undefined if the caller must send its own request for the view. */
type Viewed = { readonly answer: RpcAnswer | undefined }

/** Batches contract views into one request, which also returns the number of the block that was read. */
function openViews(rpc: Pick<Rpc, 'readDated'>): (view: View) => Promise<RpcAnswer | undefined> {
  const viewed = gather((views: readonly View[]) => viewAll(rpc, views))
  return async (view) => (await viewed(view)).answer
}

async function viewAll(rpc: Pick<Rpc, 'readDated'>, views: readonly View[]): Promise<readonly Viewed[]> {
  const question = {
    accounts: [],
    calls: views.slice(0, MAX_VIEWS).map(({ to: target, data }) => ({ target, data, gasCap: VIEW_GAS })),
  }
  const data = probeCall(question)
  if (!data) return views.map(() => ({ answer: undefined }))
  const said = (answer: RpcAnswer) =>
    answer.ok && isHex(answer.result) ? probeAnswer(answer.result, question) : undefined
  const answer = await rpc.readDated(
    { method: 'eth_call', params: [{ data }, 'latest'] },
    (whole) => said(whole)?.block,
  )
  const results = said(answer)?.results ?? []
  return views.map((_, at) => ({ answer: results[at] && answerOf(results[at]) }))
}

/** Answer of one contract read; undefined if it failed without revert data, possibly because it ran out of gas. */
function answerOf({ ok, data }: { readonly ok: boolean; readonly data: Hex }): RpcAnswer | undefined {
  if (!ok && data === '0x') return undefined
  return ok ? { ok, result: data } : { ok, code: REVERTED_CODE, message: 'execution reverted', data }
}
