import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Transport } from '../transport.ts'
import { kept } from './exchange.ts'
import { recorded } from './record.ts'
import { differences, idsOf, shapeOf } from './shape.ts'

const folder = mkdtempSync(join(tmpdir(), 'souk-recording-'))
afterAll(() => rmSync(folder, { recursive: true }))

const json = fc.jsonValue({ maxDepth: 4 })
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const credential = fc.oneof(
  hex(40).map((digits) => `sk_${digits}`),
  hex(40).map((digits) => `adm_${digits}`),
  hex(64).map((digits) => `jt_${digits}`),
  hex(130).map((digits) => `0x${digits}`),
  hex(48).map((digits) => `whsec_${digits}`),
)

/** A value with another one somewhere inside. */
const around = (inner: unknown) =>
  fc.oneof(
    fc.array(json, { maxLength: 3 }).map((others) => [...others, inner]),
    fc.record({ a: json, note: fc.constant(inner) }),
    fc.record({ deep: fc.record({ list: fc.constant([{ text: `so: ${String(inner)}.` }]) }) }),
  )

test('no credential stays in what is kept of a request, wherever in its body it stood', () => {
  const both = credential.chain((secret) => around(secret).map((body) => ({ secret, body })))
  fc.assert(
    fc.property(both, ({ secret, body }) => {
      const what = kept({ path: '/v1/trace', body: JSON.stringify(body) })
      expect(JSON.stringify(what)).not.toContain(secret)
      expect(what.left_out).toContain('a credential')
    }),
  )
})

test.each([
  ['by its name', { path: '/v1/trace', body: '{"proof":{"signature":"short"}}' }],
  ['in the query', { path: '/v1/jobs?access_token=abc' }],
  ['in the path', { path: '/verification/consent/abc' }],
])('a credential is known %s', (_, sent) => {
  const what = kept(sent)
  expect(JSON.stringify(what)).not.toMatch(/abc|short/)
  expect(what.left_out).toContain('a credential')
})

test.each([
  ['/v1/verification/start', '{"rotate_webhook_secret":true}'],
  ['/v1/services/catalog?q=token', undefined],
  ['/v1/services', '{"name":"A token counter"}'],
])('what only speaks of credentials is kept: %s %s', (path, body) => {
  expect(kept({ path, body }).left_out).toBeUndefined()
})

test('an answer differs from itself in nothing, and from what it gained or lost in that alone', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(differences(shapeOf(value), shapeOf(value))).toEqual([])
      const [one, more] = [{ value }, { value, added: 1 }]
      expect(differences(shapeOf(one), shapeOf(more))).toEqual([{ at: '.added', was: null, is: 'number' }])
      expect(differences(shapeOf(more), shapeOf(one))).toEqual([{ at: '.added', was: 'number', is: null }])
    }),
  )
})

test.each([
  ['another type', { a: 1 }, { a: '1' }, [{ at: '.a', was: 'number', is: 'string' }]],
  ['null tells nothing', { a: null }, { a: { b: 1 } }, []],
  ['an empty list tells nothing', { a: [] }, { a: [{ b: 1 }] }, []],
  ['only the topmost place', { a: { b: { c: 1 } } }, {}, [{ at: '.a', was: 'object', is: null }]],
  ['in every row', { a: [{ b: 1 }, { c: 1 }] }, { a: [{ b: 1 }] }, [{ at: '.a[].c', was: 'number', is: null }]],
  ['what a service gives is its own', { result: { a: 1 } }, { result: { b: 1 } }, []],
])('%s', (...[, was, is, found]) => {
  expect(differences(shapeOf(was), shapeOf(is))).toEqual(found)
})

test('ids of rows go by whose they are, not by where they stand, and nobody learns their names', () => {
  const id = (digit: string) => `svc_${digit.repeat(16)}`
  const one = idsOf({
    services: [
      { name: 'A', id: id('1') },
      { name: 'B', id: id('2') },
    ],
    id: id('3'),
  })
  const other = idsOf({
    services: [
      { name: 'B', id: id('4') },
      { name: 'A', id: id('5') },
    ],
    id: id('6'),
  })
  expect(Object.keys(one).map((path) => [one[path], other[path]])).toEqual([
    [id('1'), id('5')],
    [id('2'), id('4')],
    [id('3'), id('6')],
  ])
  const alike = [{ name: 'A', id: id('1') }, { name: 'A', id: id('2') }, { id: id('3') }]
  expect(idsOf({ services: alike })).toEqual({})
})

test('what is ignored may differ, with all below it and nothing beside it', () => {
  const [was, is] = [shapeOf({ a: { b: 1 }, ab: 1 }), shapeOf({ a: { c: 1 }, ab: 'x' })]
  expect(differences(was, is, ['.a'])).toEqual([{ at: '.ab', was: 'number', is: 'string' }])
})

test('a recording is private, and a full one takes no more and says so once', async () => {
  const file = join(folder, 'full.ndjson')
  const answer: Awaited<ReturnType<Transport>> = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    bytes: async () => Buffer.from('{}'),
    text: async () => '{}',
    chunks: () => Readable.from([]),
    file: () => Readable.from([]),
  }
  let told = 0
  const transport = recorded(async () => answer, { file, now: () => 0, full: () => (told += 1) })
  const body = JSON.stringify({ text: 'x'.repeat(510_000) })
  for (let i = 0; i < 140; i += 1) await (await transport({ method: 'POST', path: '/v1/x', body })).text()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(file).size).toBeLessThanOrEqual(64 * 1024 * 1024)
  expect(told).toBe(1)
  for (const line of readFileSync(file, 'utf8').trim().split('\n').slice(-2)) expect(JSON.parse(line).recorded).toBe(1)
})

test('a recording that cannot be written is refused before anything is sent', () => {
  const transport: Transport = () => Promise.reject(new Error('nothing is to be sent'))
  const file = join(folder, 'missing', 'x.ndjson')
  expect(() => recorded(transport, { file, now: () => 0, full: () => undefined })).toThrow('cannot be written')
})
