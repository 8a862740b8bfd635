import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReplyOut } from '../exchange.ts'
import { stream } from './file.ts'

type Chunks = Extract<ReplyOut, { kind: 'stream' }>

/** Sends what is made on the way, as fast as the reader takes it; HEAD does not begin it. */
export async function sendChunks(res: ServerResponse, { headers, chunks }: Chunks): Promise<void> {
  res.writeHead(200, headers)
  if (res.req.method === 'HEAD') res.end()
  else await stream(res, Readable.from(chunks()))
}
