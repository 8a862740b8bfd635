import type { AddressInfo } from 'node:net'

/** An endpoint on this machine that takes every message and does nothing with it. */
export type Sink = { readonly url: string; readonly close: () => Promise<void> }

export async function openSink(): Promise<Sink> {
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}/hook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
