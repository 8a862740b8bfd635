import type { AddressInfo } from 'node:net'

/** An endpoint on this machine that answers every message alike, and does nothing with it. */
export type Sink = { readonly url: string; readonly close: () => Promise<void> }

/** @param status - it takes what comes unless told. */
export async function openSink(status = 200): Promise<Sink> {
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'))
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
