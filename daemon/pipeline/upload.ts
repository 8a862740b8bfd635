import type { Endpoint, MultipartBody } from '../../src/api/endpoint/define.ts'
import type { Exchange } from '../endpoint/exchange.ts'
import type { Call } from '../endpoint/handler.ts'
import { parseBody, parseParams, parseQuery } from '../endpoint/input.ts'
import type { Context } from '../kernel/context.ts'

/** An upload handler with its endpoint's types forgotten. */
export type AnyUploadHandler = {
  readonly check: (input: unknown, call: Call) => Promise<void>
  readonly run: (input: unknown, call: Call) => Promise<unknown>
}

export type Upload = {
  readonly ctx: Context
  readonly endpoint: Endpoint & { readonly body: MultipartBody }
  readonly exchange: Exchange
  readonly handler: AnyUploadHandler
  readonly call: Call
}

/** Takes a file in: whatever can be refused without it is refused before a byte of it is kept. */
export async function answerUpload({ ctx, endpoint, exchange, handler, call }: Upload): Promise<unknown> {
  const place = { params: parseParams(exchange), query: parseQuery(endpoint, exchange) }
  const { fields, maxFileBytes, orJson } = endpoint.body
  if (orJson && !isMultipart(exchange)) {
    const body = parseBody(fields, (await exchange.body()) ?? {})
    await handler.check({ ...place, body, hasFile: false }, call)
    return handler.run({ ...place, body, file: null }, call)
  }
  let body: unknown
  const file = await exchange.upload({
    maxFileBytes,
    accept: async (members) => {
      body = parseBody(fields, members)
      await handler.check({ ...place, body, hasFile: true }, call)
    },
    keep: ctx.blobs.put,
  })
  return handler.run({ ...place, body, file }, call)
}

function isMultipart(exchange: Exchange): boolean {
  return exchange.header('content-type')?.toLowerCase().startsWith('multipart/') === true
}
