import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../../../../src/core/hex.ts'
import { type NodeEndpoint, openEndpoint, type RpcAnswer, type RpcCall } from './endpoint.ts'
import { EndpointFailed, type Head, headIn, type RpcFault, RpcUnavailableError } from './values.ts'

/** Calls per batch: the limit of hosted nodes. */
const MAX_ARRAY = 100
/** Number of times that all nodes are tried before a read fails. */
const READ_ROUNDS = 3
const FIRST_BACKOFF_MS = 25
const READ_TIMEOUT_MS = 5_000
const SEND_TIMEOUT_MS = 10_000
/** If no node reaches the highest head for this long, a lower head is accepted as a chain reset. */
const SET_BACK_MS = 3_000
const HEAD: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }

/** Called after every request; `kind` is set if the request failed. */
export type RpcObserver = (request: { method: string; seconds: number; node: string; kind?: RpcFault }) => void

export type RpcOptions = {
  /** Nodes of one chain, preferred first. */
  readonly urls: readonly string[]
  readonly observe?: RpcObserver
  readonly readTimeoutMs?: number
  readonly sendTimeoutMs?: number
  /** How long a node whose head is below the highest counts as lagging (default: `SET_BACK_MS`). */
  readonly setBackMs?: number
  readonly wall?: () => number
}

export type RpcRead = { readonly head: Head; readonly answers: readonly RpcAnswer[] }

export type RpcHealth = {
  readonly highest: number | undefined
  readonly nodes: readonly {
    readonly node: string
    readonly head: number | undefined
    readonly error: string | undefined
  }[]
}

/** JSON-RPC over several nodes. */
export type Rpc = {
  /**
   * Asks nodes in turn, until one that has reached the highest known block answers. An error of a single call is
   * returned as its answer.
   * @throws RpcUnavailableError
   */
  read(calls: readonly RpcCall[]): Promise<RpcRead>
  /**
   * A read whose answer contains its block number, so that no head is requested. If `blockOf` finds no number, the
   * caller must ignore the answer.
   * @throws RpcUnavailableError
   */
  readDated(call: RpcCall, blockOf: (answer: RpcAnswer) => number | undefined): Promise<RpcAnswer>
  /** Reads one value. @throws RpcUnavailableError, also for a node error */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  /** Sends a signed transaction to every node once; resolves with the first acceptance, else a failure. */
  send(raw: Hex): Promise<RpcAnswer>
  health(): RpcHealth
  close(): Promise<void>
}

type Node = NodeEndpoint & { head: number | undefined; error: string | undefined }

export function openRpc(options: RpcOptions): Rpc {
  const { wall = Date.now, setBackMs = SET_BACK_MS, readTimeoutMs = READ_TIMEOUT_MS } = options
  const nodes = options.urls.map((url): Node => ({ ...openEndpoint(url), head: undefined, error: undefined }))
  if (nodes.length === 0) throw new RangeError('a chain needs the URL of a node')
  const post = observed(options.observe)
  const seen = highest({ wall, setBackMs })
  let lastError = 'no node answered'

  /** One round over the nodes; undefined if none answered. */
  async function readRound<T>(ask: (node: Node) => Promise<T>): Promise<T | undefined> {
    for (const node of nodes.toSorted((a, b) => Number(a.error !== undefined) - Number(b.error !== undefined))) {
      try {
        const read = await ask(node)
        node.error = undefined
        return read
      } catch (error) {
        node.error = error instanceof Error ? error.message : String(error)
        lastError = node.error
      }
    }
    return undefined
  }

  async function readOver<T>(ask: (node: Node) => Promise<T>): Promise<T> {
    for (let round = 0; round < READ_ROUNDS; round++) {
      if (round > 0) await sleep(FIRST_BACKOFF_MS * 4 ** round)
      const read = await readRound(ask)
      if (read) return read
    }
    throw new RpcUnavailableError(lastError)
  }

  const from = { post, seen, timeoutMs: readTimeoutMs }
  const read = inParts((calls) => readOver((node) => readFrom(node, calls, from)))
  return {
    read,
    readDated: (call, blockOf) => readOver((node) => readDatedFrom(node, { call, blockOf }, from)),
    ask: async (method, params) => {
      const [answer] = (await read([{ method, params }])).answers
      if (answer?.ok) return answer.result
      throw new RpcUnavailableError(`${method}: ${answer?.message ?? 'no answer'}`)
    },
    send: (raw) => sendToAll(raw, { nodes, post, timeoutMs: options.sendTimeoutMs ?? SEND_TIMEOUT_MS }),
    health: () => ({
      highest: seen.value(),
      nodes: nodes.map(({ label, head, error }) => ({ node: label, head, error })),
    }),
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

type Reading = { readonly post: Post; readonly seen: Highest; readonly timeoutMs: number }

async function readFrom(node: Node, calls: readonly RpcCall[], { post, seen, timeoutMs }: Reading): Promise<RpcRead> {
  const known = seen.value()
  const [first, ...answers] = await post(node, [HEAD, ...calls], timeoutMs)
  if (!first?.ok) throw new EndpointFailed('malformed', `${node.label} did not return its latest block`)
  const head = readHead(first.result)
  node.head = head.number
  if (!seen.reached(head.number, known))
    throw new EndpointFailed('behind', `${node.label} lags behind at ${head.number}`)
  return { head, answers }
}

async function readDatedFrom(
  node: Node,
  { call, blockOf }: { readonly call: RpcCall; readonly blockOf: (answer: RpcAnswer) => number | undefined },
  { post, seen, timeoutMs }: Reading,
): Promise<RpcAnswer> {
  const known = seen.value()
  const [answer] = await post(node, [call], timeoutMs)
  if (!answer) throw new EndpointFailed('malformed', `${node.label} did not answer a call`)
  const block = blockOf(answer)
  // Do not raise the highest head: this number comes from a contract, and a false one would rule out all nodes.
  const isBehind = block !== undefined && !seen.reached(Math.min(block, seen.value() ?? block), known)
  if (isBehind) throw new EndpointFailed('behind', `${node.label} lags behind at ${block}`)
  return answer
}

type Read = Rpc['read']

function inParts(readPart: Read): Read {
  return async (calls) => {
    const [first, ...rest] = inSlices(calls)
    const { head, answers } = await readPart(first ?? [])
    const all = [...answers]
    for (const slice of rest) all.push(...(await readPart(slice)).answers)
    // Return the head of the first slice, because the other slices are read from the same or later blocks.
    return { head, answers: all }
  }
}

function inSlices(calls: readonly RpcCall[]): (readonly RpcCall[])[] {
  return Array.from({ length: Math.ceil(calls.length / MAX_ARRAY) }, (_, at) =>
    calls.slice(at * MAX_ARRAY, (at + 1) * MAX_ARRAY),
  )
}

function readHead(block: unknown): Head {
  try {
    return headIn(block)
  } catch (error) {
    throw new EndpointFailed('malformed', String(error))
  }
}

type Highest = {
  readonly value: () => number | undefined
  /** Whether a node is up to date. `known`: the highest head when the node was asked. */
  readonly reached: (head: number, known: number | undefined) => boolean
}

/** Tracks the highest head. A node lags if its answer is below the highest head known when it was asked. */
function highest({ wall, setBackMs }: { wall: () => number; setBackMs: number }): Highest {
  let value: number | undefined
  let missedSince: number | undefined
  return {
    value: () => value,
    reached: (head, known): boolean => {
      if (value === undefined || head >= value) {
        value = head
        missedSince = undefined
        return true
      }
      if (known !== undefined && head >= known) return true
      missedSince ??= wall()
      if (wall() - missedSince < setBackMs) return false
      value = head
      missedSince = undefined
      return true
    },
  }
}

type Post = (node: Node, calls: readonly RpcCall[], timeoutMs: number) => Promise<readonly RpcAnswer[]>

/** Reports each batch of JSON-RPC calls by its first method that is not a read of the head. */
function observed(observe: RpcObserver | undefined): Post {
  return async (node, calls, timeoutMs) => {
    const from = performance.now()
    const method = (calls.find((call) => call !== HEAD) ?? HEAD).method
    const tell = (kind?: RpcFault) =>
      observe?.({ method, node: node.label, seconds: (performance.now() - from) / 1_000, ...(kind ? { kind } : {}) })
    try {
      const answers = await node.post(calls, timeoutMs)
      tell()
      return answers
    } catch (error) {
      tell(error instanceof EndpointFailed ? error.kind : 'cut')
      throw error
    }
  }
}

type Sending = { readonly nodes: readonly Node[]; readonly post: Post; readonly timeoutMs: number }

/** Sends a transaction to all nodes. A node that already has it reports an error, which is harmless. */
async function sendToAll(raw: Hex, { nodes, post, timeoutMs }: Sending): Promise<RpcAnswer> {
  const calls = [{ method: 'eth_sendRawTransaction', params: [raw] }]
  const sends = nodes.map(async (node) => {
    const [answer] = await post(node, calls, timeoutMs)
    if (!answer?.ok) throw new EndpointFailed('malformed', answer?.message ?? 'no answer')
    return answer
  })
  try {
    return await Promise.any(sends)
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [error]
    return { ok: false, code: 0, message: first instanceof Error ? first.message : String(first) }
  }
}
