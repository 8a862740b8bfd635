import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { RpcAnswer } from './endpoint.ts'
import { openRpc, type Rpc, type RpcOptions } from './rpc.ts'
import { quantity, RpcUnavailableError } from './values.ts'

type Call = { readonly id: number; readonly method: string }
type Node = {
  readonly url: string
  readonly asked: string[][]
  head: number
  say: (calls: readonly Call[]) => Said | Promise<Said>
}
type Said = { readonly status?: number; readonly body: string } | 'cut' | undefined

const ended: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

/** A node that answers every call with its name, unless told otherwise. */
async function startNode(head: number): Promise<Node> {
  const node: Node = { url: '', asked: [], head, say: () => undefined }
  const server: Server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', async () => {
      const calls: Call[] = JSON.parse(text)
      node.asked.push(calls.map(({ method }) => method))
      const said = await node.say(calls)
      if (said === 'cut') response.destroy()
      else response.writeHead(said?.status ?? 200).end(said?.body ?? JSON.stringify(calls.map(answer).reverse()))
    })
  })
  const answer = ({ id, method }: Call) => {
    const block = { number: quantity(node.head), hash: `0x${'1'.repeat(64)}`, timestamp: '0x1', baseFeePerGas: '0x7' }
    return { jsonrpc: '2.0', id, result: method === 'eth_getBlockByNumber' ? block : method }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ended.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return Object.assign(node, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-key` })
}

function open(nodes: readonly Node[], more: Partial<RpcOptions> = {}): Rpc {
  const rpc = openRpc({ urls: nodes.map(({ url }) => url), ...more })
  ended.push(rpc.close)
  return rpc
}

test('answers come in the order of the calls, whatever order a node sends them in, with its head', async () => {
  const rpc = open([await startNode(5)])
  const { head, answers } = await rpc.read(['a', 'b', 'c'].map((method) => ({ method, params: [] })))
  expect(head).toMatchObject({ number: 5, baseFee: 7n })
  expect(answers).toEqual(['a', 'b', 'c'].map((result) => ({ ok: true, result })))
})

test('a read is asked again, and of another node; a send goes to each node once and is never repeated', async () => {
  const [bad, good] = [await startNode(5), await startNode(5)]
  bad.say = () => ({ status: 500, body: 'no' })
  const rpc = open([bad, good])
  expect(await rpc.ask('a', [])).toBe('a')
  bad.asked.length = 0
  good.asked.length = 0
  good.say = () => 'cut'
  expect(await rpc.send('0x00')).toMatchObject({ ok: false })
  expect([bad.asked, good.asked]).toEqual([[['eth_sendRawTransaction']], [['eth_sendRawTransaction']]])
  await expect(rpc.ask('a', [])).rejects.toThrow('cannot be reached')
  expect(good.asked.length).toBe(1 + 3)
})

test('a node below the highest head seen is not believed, until all have been below it for long', async () => {
  const [ahead, behind] = [await startNode(100), await startNode(50)]
  let now = 1_000
  const rpc = open([ahead, behind], { wall: () => now, setBackMs: 500 })
  expect((await rpc.read([])).head.number).toBe(100)
  ahead.say = () => 'cut'
  await expect(rpc.read([])).rejects.toThrow('lags behind at 50')
  ahead.say = () => undefined
  expect((await rpc.read([])).head.number).toBe(100)
  ahead.say = () => 'cut'
  await expect(rpc.read([])).rejects.toThrow('lags behind')
  now += 600
  expect((await rpc.read([])).head.number).toBe(50)
})

test('of questions asked at once the later block may be told first: each is answered, and none is asked again', async () => {
  const node = await startNode(100)
  const rpc = open([node])
  await rpc.read([])
  const block = (number: number) => ({ number: quantity(number), hash: `0x${'1'.repeat(64)}`, timestamp: '0x1' })
  const told = (number: number) => ({ body: JSON.stringify([{ id: 0, result: block(number) }]) })
  const dated = (number: number) => ({ body: JSON.stringify([{ id: 0, result: number }]) })
  const late = Promise.withResolvers<void>()
  const answers = [late.promise.then(() => told(101)), late.promise.then(() => dated(100)), Promise.resolve(told(103))]
  node.asked.length = 0
  node.say = () => answers[node.asked.length - 1]
  const first = rpc.read([])
  await expect.poll(() => node.asked.length).toBe(1)
  const second = rpc.readDated({ method: 'a', params: [] }, (one) => (one.ok ? Number(one.result) : undefined))
  await expect.poll(() => node.asked.length).toBe(2)
  expect((await rpc.read([])).head.number).toBe(103)
  late.resolve()
  expect([(await first).head.number, await second]).toEqual([101, { ok: true, result: 100 }])
  expect(node.asked).toHaveLength(3)
  expect(rpc.health().highest).toBe(103)
  // Whoever asks now knows of it.
  node.say = () => told(102)
  await expect(rpc.read([])).rejects.toThrow('lags behind at 102')
})

test('an answer that tells its block itself is asked for by itself, and is not believed of a node that lags', async () => {
  const [old, good] = [await startNode(50), await startNode(100)]
  const rpc = open([old, good])
  const blockOf = (answer: RpcAnswer) => (answer.ok ? Number(answer.result) : undefined)
  const told = (number: number) => () => ({ body: JSON.stringify([{ id: 0, result: number }]) })
  old.say = () => 'cut'
  expect((await rpc.read([])).head.number).toBe(100)
  old.say = told(99)
  good.say = told(101)
  for (const node of [old, good]) node.asked.length = 0
  expect(await rpc.readDated({ method: 'a', params: [] }, blockOf)).toEqual({ ok: true, result: 101 })
  expect(good.asked).toEqual([['a']])
  old.say = told(100)
  good.say = () => 'cut'
  expect(await rpc.readDated({ method: 'a', params: [] }, blockOf)).toEqual({ ok: true, result: 100 })
  old.say = told(99)
  await expect(rpc.readDated({ method: 'a', params: [] }, blockOf)).rejects.toThrow(RpcUnavailableError)
  expect(rpc.health().nodes[0]?.error).toContain('lags behind at 99')
  // What a contract saw as its block binds no other node.
  good.say = () => undefined
  expect((await rpc.read([])).head.number).toBe(100)
})

test.each([
  ['no JSON', 'what?'],
  ['one object for an array', '{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":"slow down"}}'],
  ['an answer too few', '[]'],
  ['a head that is none', '[{"id":0,"result":{"number":"latest"}}]'],
  ['a response beyond its size', ' '.repeat(33 * 1024 * 1024)],
])('%s is no answer, and errors keep the path of a node to themselves', async (_, body) => {
  const node = await startNode(1)
  node.say = () => ({ body })
  const rpc = open([node])
  const error = await rpc.read([]).catch((thrown: unknown) => String(thrown))
  expect(error).toMatch(/^RpcUnavailableError: .*(127\.0\.0\.1|the node)/)
  expect(error).not.toContain('secret-key')
})

test('a node that does not answer is left after its time', async () => {
  const node = await startNode(1)
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  ended.push(async () => {
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const kinds: unknown[] = []
  const rpc = openRpc({ urls: [url, node.url], readTimeoutMs: 400, observe: ({ kind }) => kinds.push(kind) })
  ended.push(rpc.close)
  expect((await rpc.read([])).head.number).toBe(1)
  expect(kinds[0]).toBe('timeout')
})

test('what a contract reverted with is told as an answer', async () => {
  const node = await startNode(1)
  node.say = (calls) => {
    const block = { number: '0x1', hash: `0x${'1'.repeat(64)}`, timestamp: '0x1' }
    const error = { code: 3, message: 'execution reverted', data: '0x08c379a0' }
    return { body: JSON.stringify(calls.map(({ id }) => (id === 0 ? { id, result: block } : { id, error }))) }
  }
  const rpc = open([node])
  const { answers } = await rpc.read([{ method: 'eth_call', params: [] }])
  expect(answers).toEqual([{ ok: false, code: 3, message: 'execution reverted', data: '0x08c379a0' }])
  await expect(rpc.ask('eth_call', [])).rejects.toThrow('eth_call: execution reverted')
})
