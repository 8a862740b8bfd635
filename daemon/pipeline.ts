import { type Endpoint, isPaid } from '../src/api/endpoint.ts'
import { api, type RowName } from '../src/api/index.ts'
import { encodedReply, encodeEvents, encodeJson } from './encode.ts'
import { type Exchange, JSON_TYPE, type ReplyOut } from './exchange.ts'
import { identify } from './gates/caller.ts'
import { parseInput } from './gates/input.ts'
import { answerPaidRow } from './gates/paid-row.ts'
import type { HandlerTable } from './gates/recovery.ts'
import { refuseSwitchedOff } from './gates/switches.ts'
import { refuseWithoutTerms } from './gates/terms.ts'
import { type Ctx, isEncoded } from './handler.ts'
import type { World } from './world.ts'

export type Pipeline = { readonly world: World; readonly handlers: HandlerTable }

type AnyFreeHandler = (input: unknown, ctx: Ctx) => Promise<unknown>

/**
 * One request through the gates: replay? > enabled > deferred > paused > who > parse > quote >
 * 402 > reserve > settle | run > reply. Paid rows take the second half in `gates/paid-row.ts`.
 */
export async function answer(pipeline: Pipeline, name: RowName, exchange: Exchange): Promise<ReplyOut> {
  const { world, handlers } = pipeline
  const row: Endpoint = api[name]
  const base = {
    world,
    now: world.clock.now(),
    wall: world.clock.wall(),
    requestId: exchange.requestId,
    signal: exchange.signal,
  }
  if (isPaid(row)) return answerPaidRow({ world, handlers, name, row, exchange, base })
  refuseSwitchedOff(world, row, exchange)
  const caller = await identify(world, row, exchange)
  refuseWithoutTerms(world, row, caller)
  const input = await parseInput(row, exchange)
  const version = world.pages.version()
  const value = await (handlers[name] as AnyFreeHandler)(input, { ...base, caller }) // the table is total over the contract
  if (isEncoded(value) && value.shared) world.pages.set(exchange.url, value, version)
  return encodeReply(row, value)
}

function encodeReply(row: Endpoint, value: unknown): ReplyOut {
  const { reply } = row
  if (isEncoded(value)) return encodedReply(value, reply.kind === 'bytes' ? reply.contentType : JSON_TYPE)
  switch (reply.kind) {
    case 'json':
      return encodeJson(reply.schema, value, { private: row.access.door !== 'open' })
    case 'empty':
      return { kind: 'bytes', status: 204, headers: {}, body: '' }
    case 'events':
      return encodeEvents(reply.schema, value as AsyncIterable<{ id: string; event: string; data: unknown }>) // the handler's type
    case 'bytes':
    case 'file':
    case 'html':
      throw new Error(`${row.path} must answer with bytes`)
  }
}
