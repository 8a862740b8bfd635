import { argument, serveHttp } from './serve.ts'

// The least that Node can do: the given bytes for every request.
const bytes = Buffer.from(argument<{ base64: string }>().base64, 'base64')
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': bytes.length }

await serveHttp((_req, res) => {
  res.writeHead(200, headers).end(bytes)
})
