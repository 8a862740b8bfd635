import { createHash } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import busboy from 'busboy'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTransport } from './transport.ts'
import { formOf } from './upload.ts'

const FILE_BYTES = 5 * 1024 * 1024
const content = Buffer.alloc(FILE_BYTES, 'some bytes ')

let folder: string
let server: Server | undefined
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'souk-upload-'))
})
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

function fileNamed(name: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function serve(listener: RequestListener) {
  const listening = createServer(listener)
  server = listening
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done))
  return createTransport({ baseUrl: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` })
}

test.each(['plain.txt', 'a "quoted" \\ name.txt', 'Ünïcode №.txt'])(
  '%s arrives as it is, fields first',
  async (name) => {
    const seen: [string, string][] = []
    const transport = await serve((req, res) => {
      const parser = busboy({ headers: req.headers, preservePath: true, defParamCharset: 'utf8' })
      parser.on('field', (field, value) => seen.push([field, value]))
      parser.on('file', (field, stream, { filename }) => {
        const hash = createHash('sha256')
        stream.on('data', (chunk: Buffer) => hash.update(chunk))
        stream.on('end', () => seen.push([field, `${filename} ${hash.digest('hex')}`]))
      })
      parser.on('close', () => res.end('{}'))
      req.pipe(parser)
    })
    const told: number[] = []
    const form = formOf({ name: 'Näme', price: '1.00' }, { path: fileNamed(name), onBytes: (sent) => told.push(sent) })
    const answer = await transport({ method: 'POST', path: '/', headers: form.headers, body: form.body })
    expect([answer.status, await answer.text()]).toEqual([200, '{}'])
    expect(seen).toEqual([
      ['name', 'Näme'],
      ['price', '1.00'],
      ['file', `${name} ${form.sha256()}`],
    ])
    expect(form.sha256()).toBe(createHash('sha256').update(content).digest('hex'))
    expect([told.at(-1), told.every((sent, at) => at === 0 || sent > (told[at - 1] as number))]).toEqual([
      FILE_BYTES,
      true,
    ])
  },
)

test('an answer that comes early ends the sending', async () => {
  const transport = await serve((req, res) => {
    res.writeHead(409, { 'Content-Type': 'application/json' }).end('{"code":"conflict"}')
    req.resume()
  })
  let sent = 0
  async function* endless() {
    for (;;) {
      sent += 1
      yield Buffer.alloc(65_536)
      await new Promise((done) => setImmediate(done))
    }
  }
  const answer = await transport({
    method: 'POST',
    path: '/',
    headers: { 'content-length': '1000000000' },
    body: endless(),
  })
  expect([answer.status, await answer.text()]).toEqual([409, '{"code":"conflict"}'])
  const then = sent
  await new Promise((done) => setImmediate(done))
  expect(sent - then).toBeLessThan(2)
})

test('the time without an answer counts from the end of the body on', async () => {
  const transport = await serve((req) => req.resume())
  async function* slow() {
    for (let part = 0; part < 3; part += 1) {
      yield Buffer.alloc(10)
      await new Promise((done) => setTimeout(done, 60))
    }
  }
  const headers = { 'content-length': '30' }
  const sent = transport({ method: 'POST', path: '/', headers, body: slow(), timeoutMs: 100 })
  await expect(sent).rejects.toMatchObject({ failure: 'timeout' })
})

test('a file that grows while it is sent is not sent as if it were whole', async () => {
  const transport = await serve((req, res) => req.on('end', () => res.end('{}')).resume())
  const path = fileNamed('growing')
  const form = formOf({}, { path, onBytes: () => appendFileSync(path, 'more') })
  await expect(transport({ method: 'POST', path: '/', headers: form.headers, body: form.body })).rejects.toThrow(
    'changed while it was sent',
  )
})

test.each([
  ['a file that is not there', () => join(folder, 'nothing')],
  ['a folder', () => folder],
])('%s is no upload', (_, path) => {
  expect(() => formOf({}, { path: path() })).toThrow('There is no file')
})
