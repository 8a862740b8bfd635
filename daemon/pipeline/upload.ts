import type { Endpoint, MultipartBody } from '../../src/api/endpoint/define.ts'
import type { Exchange } from '../endpoint/exchange.ts'
import type { Ctx } from '../endpoint/handler.ts'
import { parseBody, parseParams, parseQuery } from '../endpoint/input.ts'
import type { World } from '../kernel/world.ts'

/** An upload handler with its row's types forgotten. */
export type AnyUploadHandler = {
  readonly check: (input: unknown, ctx: Ctx) => Promise<void>
  readonly run: (input: unknown, ctx: Ctx) => Promise<unknown>
}

export type Upload = {
  readonly world: World
  readonly row: Endpoint & { readonly body: MultipartBody }
  readonly exchange: Exchange
  readonly handler: AnyUploadHandler
  readonly ctx: Ctx
}

/** Takes a file in: whatever can be refused without it is refused before a byte of it is kept. */
export async function answerUpload({ world, row, exchange, handler, ctx }: Upload): Promise<unknown> {
  const place = { params: parseParams(exchange), query: parseQuery(row, exchange) }
  const { fields, maxFileBytes, orJson } = row.body
  if (orJson && !isMultipart(exchange)) {
    const body = parseBody(fields, (await exchange.body()) ?? {})
    await handler.check({ ...place, body, hasFile: false }, ctx)
    return handler.run({ ...place, body, file: null }, ctx)
  }
  let body: unknown
  const file = await exchange.upload({
    maxFileBytes,
    accept: async (members) => {
      body = parseBody(fields, members)
      await handler.check({ ...place, body, hasFile: true }, ctx)
    },
    keep: world.blobs.put,
  })
  return handler.run({ ...place, body, file }, ctx)
}

function isMultipart(exchange: Exchange): boolean {
  return exchange.header('content-type')?.toLowerCase().startsWith('multipart/') === true
}
