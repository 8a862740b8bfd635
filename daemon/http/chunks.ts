import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReplyOut } from '../endpoint/exchange.ts'

type Chunks = Extract<ReplyOut, { kind: 'stream' }>

/** Sends what is made on the way, as fast as the reader takes it; HEAD does not begin it. */
export async function sendChunks(res: ServerResponse, { headers, chunks }: Chunks): Promise<void> {
  res.writeHead(200, headers)
  if (res.req.method === 'HEAD') res.end()
  else await stream(res, Readable.from(chunks()))
}

/** A reader that leaves is no fault; what fails while reading ends the connection, so that nobody takes a part for the whole. */
async function stream(res: ServerResponse, content: NodeJS.ReadableStream): Promise<void> {
  try {
    await pipeline(content, res)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE')) throw error
  }
}
