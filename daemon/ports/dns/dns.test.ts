import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { encode } from 'dns-packet'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NameServer, openNameServer } from './dns.testkit.ts'
import { openDns } from './dns.ts'
import { DnsError, readAnswer } from './message.ts'

let names: NameServer
beforeAll(async () => {
  names = await openNameServer({
    'A site.test': [{ data: '192.0.2.1', ttl: 300 }],
    'TXT site.test': [{ data: ['v=spf1 ', '-all'] }],
    'MX site.test': [{ data: { preference: 10, exchange: 'Mail.site.test' } }],
    'TXT big.test': 'truncate',
    'FULL TXT big.test': Array.from({ length: 40 }, (_, i) => ({ data: [`${i} ${'x'.repeat(200)}`] })),
    'A mute.test': 'silent',
  })
})
afterAll(() => names.close())

const dns = () => openDns({ servers: [names.server] })

it('reads records with their time to live, and knows a name without such a record from no name', async () => {
  const answer = await dns().ask({ name: 'site.test', type: 'A' })
  expect(answer).toMatchObject({ rcode: 'NOERROR', records: [{ type: 'A', value: '192.0.2.1', ttl: 300 }] })
  expect((await dns().ask({ name: 'site.test', type: 'TXT' })).records[0]?.value).toBe('v=spf1 -all')
  expect((await dns().ask({ name: 'site.test', type: 'MX' })).records[0]?.value).toBe('10 mail.site.test')
  expect(await dns().ask({ name: 'site.test', type: 'AAAA' })).toMatchObject({ rcode: 'NOERROR', records: [] })
  expect(await dns().ask({ name: 'gone.test', type: 'A' })).toMatchObject({ rcode: 'NXDOMAIN', records: [] })
})

it('asks again over TCP for what does not fit into a packet', async () => {
  const { records } = await dns().ask({ name: 'big.test', type: 'TXT' })
  expect(records).toHaveLength(40)
  expect(names.asked).toContain('tcp TXT big.test')
})

it('says that a server is silent, and goes on to the next', async () => {
  await expect(dns().ask({ name: 'mute.test', type: 'A' })).rejects.toMatchObject({ failure: 'timeout' })
  const two = openDns({ servers: ['127.0.0.1:1', names.server] })
  expect(await two.ask({ name: 'site.test', type: 'A' })).toMatchObject({ rcode: 'NOERROR' })
})

it('believes no junk, no answer to another question and no pointer that leads in circles', async () => {
  const liar = createSocket('udp4')
  liar.on('message', (bytes, from) => {
    const other = Buffer.from(bytes)
    other.writeUInt16BE((bytes.readUInt16BE(0) + 1) % 65_536)
    liar.send(other, from.port, from.address) // another id: passed over
    const loop = Buffer.concat([
      bytes.subarray(0, 2),
      Buffer.from('8180000100010000000000000c000c'.replace('0c', 'c00c'), 'hex'),
    ])
    liar.send(loop, from.port, from.address)
  })
  liar.bind(0, '127.0.0.1')
  await once(liar, 'listening')
  const { port } = liar.address()
  const lied = openDns({ servers: [`127.0.0.1:${port}`] }).ask({ name: 'site.test', type: 'A' })
  await expect(lied).rejects.toMatchObject({ name: 'DnsError' })
  liar.close()
})

it('asks name servers of zones at public addresses alone', async () => {
  const asked = dns().askServer('127.0.0.1', { name: 'site.test', type: 'SOA' }, { over: 'udp' })
  await expect(asked).rejects.toMatchObject({ failure: 'refused' })
  await expect(
    dns().askServer('::ffff:10.0.0.1', { name: 'site.test', type: 'SOA' }, { over: 'tcp' }),
  ).rejects.toMatchObject({ failure: 'refused' })
})

it('fails, and ends nothing else, for a name server that no route leads to', async () => {
  const reached = openDns({ mayAsk: () => true })
  // A link-local address without its link, and a broadcast: the system refuses both at once.
  for (const address of ['fe80::1', '255.255.255.255']) {
    const asked = reached.askServer(address, { name: 'site.test', type: 'A' }, { over: 'udp' })
    await expect(asked).rejects.toMatchObject({ failure: 'broken' })
  }
})

const asked = { id: 7, name: 'site.test', type: 'TXT', recursive: true } as const
const whole = encode({
  type: 'response',
  id: asked.id,
  questions: [{ name: asked.name, type: asked.type }],
  answers: [
    { name: asked.name, type: 'TXT', data: ['v=spf1 -all'] },
    { name: asked.name, type: 'CAA', data: { flags: 0, tag: 'issue', value: 'ca.test' } },
    { name: asked.name, type: 'MX', data: { preference: 1, exchange: 'mail.site.test' } },
  ],
  authorities: [{ name: asked.name, type: 'NS', data: 'ns.site.test' }],
})

it('reads any bytes as an answer, as none or as broken, and never more than they hold', () => {
  const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) })
  const damaged = fc.array(change, { maxLength: 12 }).map((changes) => {
    const bytes = Buffer.from(whole)
    // The identifier stays, so that it is looked at.
    for (const { at, byte } of changes) if (at > 1) bytes[at] = byte
    return bytes
  })
  const cut = fc.nat(whole.length).map((length) => whole.subarray(0, length))
  const junk = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.concat([whole.subarray(0, 2), bytes]))
  fc.assert(
    fc.property(fc.oneof(damaged, cut, junk), (bytes) => {
      try {
        const { records = [], authority = [] } = readAnswer(bytes, asked) ?? {}
        for (const { name, type, ttl, value } of [...records, ...authority]) {
          expect([typeof name, typeof type, typeof ttl, typeof value]).toEqual(['string', 'string', 'number', 'string'])
          expect(value.length).toBeLessThanOrEqual(4 * 65_536)
        }
        expect(records.length).toBeLessThanOrEqual(100)
      } catch (error) {
        expect(error).toBeInstanceOf(DnsError)
      }
    }),
    { numRuns: 400 },
  )
})

it('reads a hundred records of a message that holds thousands, and nothing behind them', () => {
  const asked = { name: 'site.test', type: 'NS', id: 7, recursive: true } as const
  const question = encode({ type: 'response', id: asked.id, questions: [{ name: asked.name, type: asked.type }] })
  // Each is a name that points at the one before it: a name server of a stranger sends as many as a message holds.
  const record = Buffer.from([0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 1, 0, 2, 0xc0, 12])
  const broken = Buffer.alloc(1_000, 0xff)
  question.writeUInt16BE(4_000, 6)
  const message = Buffer.concat([question, ...Array.from({ length: 100 }, () => record), broken])
  expect(readAnswer(message, asked)?.records).toHaveLength(100)
})
