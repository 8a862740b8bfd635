import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider's endpoint as its author would write it: plain Node, and signatures checked by its own code. */
export type Provider = {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** What it answers with next; 200 unless told. */
  answer: (message: Received) => Answer | Promise<Answer>
  /** Most requests that were under way at once. */
  readonly most: () => number
  readonly close: () => Promise<void>
}

export type Received = {
  readonly headers: IncomingHttpHeaders
  readonly raw: string
  // biome-ignore lint/suspicious/noExplicitAny: messages of many shapes, each read by the test that waits for it
  readonly body: any
}
export type Answer = {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

export async function openProvider(path = '/hook'): Promise<Provider> {
  const received: Received[] = []
  let open = 0
  let most = 0
  const provider: Pick<Provider, 'answer'> = { answer: () => ({}) }
  const server = createServer(async (req, res) => {
    most = Math.max(most, ++open)
    res.on('close', () => {
      open -= 1
    })
    const raw = await textOf(req)
    const message = { headers: req.headers, raw, body: JSON.parse(raw) }
    received.push(message)
    const { status = 200, headers = {}, body = '' } = await provider.answer(message)
    res.writeHead(status, headers).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return Object.assign(provider, {
    url: `http://127.0.0.1:${port}${path}`,
    port,
    received,
    most: () => most,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  })
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Which of the two schemes hold for a message under a secret. */
export function checkedBy({ headers, raw }: Pick<Received, 'headers' | 'raw'>, secret: string) {
  const id = String(headers['webhook-id'])
  const standard = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${id}.${headers['webhook-timestamp']}.${raw}`)
    .digest()
  const signatures = String(headers['webhook-signature']).split(' ')
  const hex = createHmac('sha256', secret).update(`${headers['x-webhook-timestamp']}.${raw}`).digest('hex')
  return {
    standard: signatures.some((text) => text.startsWith('v1,') && same(Buffer.from(text.slice(3), 'base64'), standard)),
    hex: headers['x-webhook-signature'] === `sha256=${hex}`,
    previousHex: headers['x-webhook-signature-previous'] === `sha256=${hex}`,
  }
}

function same(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
