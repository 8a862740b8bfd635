import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { BOUNDARY, fieldPart, filePart, formBytes, type Part, sendForm, storedFiles } from '../../fixtures/kit/forms.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { MAX_PRODUCT_BYTES } from '../../src/core/limits.ts'
import { realDisk } from '../store/disk.ts'
import { DEFAULT_RESERVE_BYTES } from '../store/lowdb/space.ts'
import { MAX_FORM_FIELD_BYTES, MAX_FORM_FIELDS } from './limits.ts'

// @slow files as large as they may be

let market: Marketplace
let provider: Person
beforeAll(async () => {
  market = await openMarketplace()
  provider = await registered(market, { type: 'provider' })
})
afterAll(() => market.close())

/** Files that are kept when a test begins. */
let before: string[]
beforeEach(async () => {
  before = await storedFiles(market)
})

const fields: Part[] = [fieldPart('name', 'A book'), fieldPart('price', '5.00')]
const send = (body: Buffer, headers: Record<string, string> = {}) =>
  sendForm(market, { path: '/v1/products', key: provider.key, body, headers })

type Fault = [
  what: string,
  body: () => Buffer,
  expected: [number, string, string | undefined],
  headers?: Record<string, string>,
]

const named = (filename: string) => () => formBytes([...fields, filePart('text', { filename })])
const invalid = (path?: string): [number, string, string | undefined] => [400, 'invalid_request', path]
const sound = () => formBytes([...fields, filePart('text')])

const faults: Fault[] = [
  ['a name with a path', named('../../etc/passwd'), invalid('file')],
  ['a name with an absolute path', named('/etc/passwd'), invalid('file')],
  ['a name with a path of Windows', named('..\\..\\boot.ini'), invalid('file')],
  ['a name that is a folder', named('..'), invalid('file')],
  ['a name with a control character', named('a\u0085b.txt'), invalid('file')],
  ['a name that reads backwards', named('\u202egpj.exe'), invalid('file')],
  ['a name of 201 bytes', named('x'.repeat(201)), invalid('file')],
  ['an empty name', named(''), invalid('file')],
  ['no file', () => formBytes(fields), invalid('file')],
  ['a file of no bytes', () => formBytes([...fields, filePart('')]), invalid('file')],
  ['nothing at all', () => formBytes([]), invalid('file')],
  ['a file that is text', () => formBytes([...fields, fieldPart('file', 'text')]), invalid('file')],
  ['a second file', () => formBytes([...fields, filePart('one'), filePart('two')]), invalid('file')],
  ['a file under another name', () => formBytes([...fields, filePart('text', { name: 'book' })]), invalid('book')],
  ['a field that is a file', () => formBytes([filePart('text', { name: 'name' })]), invalid('name')],
  [
    'a field behind the file',
    () => formBytes([...fields, filePart('text'), fieldPart('category', 'books')]),
    invalid('category'),
  ],
  ['a field twice', () => formBytes([...fields, fieldPart('name', 'Another'), filePart('text')]), invalid('name')],
  ['an unknown field', () => formBytes([...fields, fieldPart('colour', 'red'), filePart('text')]), invalid('colour')],
  [
    'a field of the prototype',
    () => formBytes([...fields, fieldPart('__proto__', 'x'), filePart('text')]),
    invalid('__proto__'),
  ],
  ['a missing field', () => formBytes([fieldPart('price', '1.00'), filePart('text')]), invalid('name')],
  [
    'a price that is none',
    () => formBytes([fieldPart('name', 'A'), fieldPart('price', 'a lot'), filePart('text')]),
    invalid('price'),
  ],
  ['a part without a name', () => formBytes([...fields, { body: 'x' }, filePart('text')]), invalid()],
  [
    'a field that is too long',
    () => formBytes([...fields, fieldPart('description', 'x'.repeat(MAX_FORM_FIELD_BYTES + 1)), filePart('text')]),
    invalid('description'),
  ],
  [
    'a name of a field that is too long',
    () => formBytes([...fields, fieldPart('x'.repeat(200), ''), filePart('text')]),
    invalid(),
  ],
  [
    'too many fields',
    () =>
      formBytes([...Array.from({ length: MAX_FORM_FIELDS + 1 }, (_, at) => fieldPart(`f${at}`, '')), filePart('text')]),
    invalid(),
  ],
  [
    'a base64 part',
    () => formBytes([...fields, filePart('dGV4dA==', { lines: ['Content-Transfer-Encoding: base64'] })]),
    [415, 'unsupported_media_type', 'file'],
  ],
  ['no last boundary', () => formBytes([...fields, filePart('text')], ''), invalid()],
  [
    'a form cut inside a file',
    () => formBytes([...fields, filePart('x'.repeat(100_000))]).subarray(0, 50_000),
    invalid(),
  ],
  ['a form cut inside a header', () => formBytes([...fields, filePart('text')]).subarray(0, 40), invalid()],
  ['no form', () => Buffer.from('hello'), invalid()],
  ['another boundary', sound, invalid(), { 'Content-Type': 'multipart/form-data; boundary=other' }],
  ['no boundary', sound, invalid(), { 'Content-Type': 'multipart/form-data' }],
  [
    'a plain form',
    sound,
    [415, 'unsupported_media_type', undefined],
    { 'Content-Type': 'application/x-www-form-urlencoded' },
  ],
  [
    'another kind of multipart',
    sound,
    [415, 'unsupported_media_type', undefined],
    { 'Content-Type': 'multipart/mixed; boundary=x' },
  ],
  ['a content encoding', sound, [415, 'unsupported_media_type', undefined], { 'Content-Encoding': 'gzip' }],
]

test.each(faults)('%s is refused by name, and nothing is kept', async (...[, body, expected, headers]) => {
  const answer = await send(body(), headers)
  expect([answer.status, answer.body.code, answer.body.details?.[0]?.path], answer.text).toEqual(expected)
  expect(await storedFiles(market)).toEqual(before)
})

test('a form larger than the bound by its own length is refused before any of it is read', async () => {
  const answer = await headOnly({
    'Content-Length': String(MAX_PRODUCT_BYTES + 1024 * 1024),
    'X-API-Key': provider.key,
  })
  expect(answer).toEqual([413, 'too_large'])
  expect(await storedFiles(market)).toEqual(before)
})

test('without a key nothing is read or kept', async () => {
  expect(await headOnly({ 'Content-Length': String(MAX_PRODUCT_BYTES) })).toEqual([401, 'unauthorized'])
  expect(await storedFiles(market)).toEqual(before)
})

test.each(['close', 'keep-alive'])(
  'a refusal reaches a sender that goes on sending (Connection: %s)',
  async (connection) => {
    for (let time = 0; time < 10; time += 1) {
      const body = formBytes([
        fieldPart('name', 'A book'),
        fieldPart('price', 'a lot'),
        filePart(Buffer.alloc(8 * 1024 * 1024)),
      ])
      const sent = open({ 'Content-Length': String(body.length), 'X-API-Key': provider.key, Connection: connection })
      for (let at = 0; at < body.length; at += 65_536) sent.write(body.subarray(at, at + 65_536))
      sent.end()
      const answered = once(sent, 'response')
      sent.on('error', () => undefined) // once it has its answer, the rest may find the connection closed
      const [response] = await answered
      response.resume()
      expect(response.statusCode).toBe(400)
      await once(response, 'end')
    }
    expect(await storedFiles(market)).toEqual(before)
  },
)

test('a sender that leaves in the middle leaves nothing behind', async () => {
  const whole = formBytes([...fields, filePart(Buffer.alloc(1024 * 1024))])
  const upload = open({ 'Content-Length': String(whole.length), 'X-API-Key': provider.key })
  upload.on('error', () => undefined) // it is cut here
  upload.write(whole.subarray(0, whole.length / 2))
  while ((await storedFiles(market)).length === before.length) await new Promise((done) => setTimeout(done, 2))
  upload.destroy()
  while ((await storedFiles(market)).length > before.length) await new Promise((done) => setTimeout(done, 2))
  expect(await storedFiles(market)).toEqual(before)
})

test('a sender that stands still is cut with 408, and nothing is kept', async () => {
  const slow = await openMarketplace({ requestTimeoutMs: 200 })
  try {
    const seller = await registered(slow, { type: 'provider' })
    const whole = formBytes([...fields, filePart(Buffer.alloc(200_000))])
    const sent = open({ 'Content-Length': String(whole.length), 'X-API-Key': seller.key }, slow)
    sent.on('error', () => undefined) // the rest is never sent
    sent.write(whole.subarray(0, whole.length / 2))
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(408)
    await expect.poll(() => storedFiles(slow)).toEqual([])
    sent.destroy()
  } finally {
    await slow.close()
  }
})

test('a full disk is kept for the journal: uploads are refused first', async () => {
  let freeBytes = Number.POSITIVE_INFINITY
  const full = await openMarketplace({}, { disk: { ...realDisk, freeBytes: async () => freeBytes } })
  try {
    const seller = await registered(full, { type: 'provider' })
    freeBytes = DEFAULT_RESERVE_BYTES + 1024
    const body = formBytes([...fields, filePart('text')])
    const answer = await sendForm(full, { path: '/v1/products', key: seller.key, body })
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable'])
    expect(await storedFiles(full)).toEqual([])
    expect((await seller.call('POST', '/v1/products', { name: 'A draft', price: '1.00' })).status).toBe(200)
  } finally {
    await full.close()
  }
})

test.each([
  ['text/html; charset=utf-8', 'text/html'],
  ['application/vnd.api+json', 'application/vnd.api+json'],
  [`text/${'x'.repeat(100)}`, 'application/octet-stream'],
])('a sound form is kept, whatever its file is: %s', async (type, kept) => {
  const name = 'Ünï “quoted”; 100%.tar.gz'
  const answer = await send(formBytes([...fields, filePart('text', { filename: name.replaceAll('"', '%22'), type })]))
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.file).toMatchObject({ name, content_type: kept, size_bytes: 4 })
  expect(await storedFiles(market)).toContain(answer.body.file.sha256)
})

function open(headers: Record<string, string>, at = market) {
  return request(`${at.url()}/v1/products`, {
    method: 'POST',
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
  })
}

/** Sends a head and waits for the answer with the body still owed. */
async function headOnly(headers: Record<string, string>): Promise<[number | undefined, string]> {
  const sent = open(headers)
  sent.flushHeaders()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  sent.on('error', () => undefined) // the rest is never sent
  sent.destroy()
  return [response.statusCode, JSON.parse(Buffer.concat(chunks).toString()).code]
}
