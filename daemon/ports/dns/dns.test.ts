import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NameServer, openNameServer } from './dns.testkit.ts'
import { openDns } from './dns.ts'

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
