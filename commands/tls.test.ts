import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { DAY_MS } from '../src/core/time.ts'
import { ownCertificate } from '../src/lifecycle/certificate.ts'

// @slow real daemons that serve https

/* Two homes and a network between them that anybody may stand in. */

const HOST = '127.0.0.1'
const UP = ['up', '--tls', '--host', HOST, '--seed', 'house']
const PAIRS = /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/
let seller: User
let buyer: User
let shop: { url: string; lan_url: string; fingerprint: string; data_dir: string }
beforeAll(async () => {
  seller = await openUser()
  buyer = await openUser()
  shop = await seller.json(...UP, '--port', '0')
})
afterAll(async () => {
  await buyer.close()
  await seller.close()
})

const exec = promisify(execFile)
const hasCurl = await exec('curl', ['--version']).then(
  () => true,
  () => false,
)
let curl: string

const portOf = (url: string) => new URL(url).port

describe('a daemon under --tls', () => {
  test('makes a certificate for this machine, whose key only its owner reads', () => {
    expect(shop).toMatchObject({ url: expect.stringMatching(/^https:/), fingerprint: expect.stringMatching(PAIRS) })
    const certificate = new X509Certificate(readFileSync(join(shop.data_dir, 'tls-cert.pem')))
    expect(certificate.fingerprint256).toBe(shop.fingerprint)
    expect(certificate.subjectAltName).toMatch(/DNS:localhost.*IP Address:127\.0\.0\.1/)
    expect((statSync(join(shop.data_dir, 'tls-key.pem')).mode & 0o777).toString(8)).toBe('600')
  })

  test('is spoken to on its own machine as any other, and prints what to type elsewhere', async () => {
    expect((await seller.json('status')).state).toBe('running')
    const { out } = await seller.souk('up')
    expect(out).toContain(`souk remote add shop ${shop.lan_url} --fingerprint ${shop.fingerprint}`)
  })

  test('keeps its certificate over a restart, and makes another before it ends', async () => {
    const at = { dataDir: join(seller.home, 'certificate'), host: HOST }
    mkdirSync(at.dataDir)
    const now = Date.now()
    const first = await ownCertificate({ ...at, now })
    expect((await ownCertificate({ ...at, now: now + 700 * DAY_MS })).fingerprint).toBe(first.fingerprint)
    const renewed = await ownCertificate({ ...at, now: now + 800 * DAY_MS })
    expect(renewed.fingerprint).not.toBe(first.fingerprint)
    expect(Date.parse(new X509Certificate(renewed.cert).validTo)).toBeGreaterThan(now + 1_600 * DAY_MS)
  })
})

describe('a remote that no authority vouches for', () => {
  test('is not added where nobody can look at its certificate', async () => {
    for (const more of [[], ['--yes']]) {
      const { code, err } = await buyer.souk('remote', 'add', 'shop', shop.url, ...more)
      expect([code, err]).toEqual([2, expect.stringContaining(shop.fingerprint)])
    }
    expect((await buyer.json('remote', 'list')).remotes.map(({ name }: { name: string }) => name)).toEqual(['local'])
  })

  test('is not added under another fingerprint, or what is none', async () => {
    const other = shop.fingerprint.replace(/^../, shop.fingerprint.startsWith('00') ? '01' : '00')
    const wrong = await buyer.souk('remote', 'add', 'shop', shop.url, '--fingerprint', other)
    expect([wrong.code, wrong.err]).toEqual([4, expect.stringContaining(`shown  ${shop.fingerprint}`)])
    expect((await buyer.souk('remote', 'add', 'shop', shop.url, '--fingerprint', 'abc')).code).toBe(2)
    const plain = await buyer.souk('remote', 'add', 'shop', 'http://127.0.0.1:9', '--fingerprint', other)
    expect(plain.code).toBe(2)
  })

  test('is added with its own, and then sells to who comes with a wallet alone', async () => {
    const typed = shop.fingerprint.replaceAll(':', '').toLowerCase()
    const added = await buyer.json('remote', 'add', 'shop', shop.url, '--fingerprint', typed)
    expect(added.fingerprint).toBe(shop.fingerprint)
    for (const line of ['remote use shop', 'wallet new me', 'wallet fund', 'account register']) {
      await buyer.json(...line.split(' '))
    }
    const bought = await buyer.json('buy', 'qr_code', '-i', 'data=hello', '--pay', 'x402')
    expect(bought.status).toBe('completed')
    await buyer.json('balance', 'deposit', '1.00')
  })

  test('is listed and shown with what it is held to', async () => {
    const { remotes } = await buyer.json('remote', 'list')
    expect(remotes.map(({ fingerprint }: { fingerprint: string | null }) => fingerprint)).toEqual([
      null,
      shop.fingerprint,
    ])
    expect((await buyer.json('remote', 'show')).fingerprint).toBe(shop.fingerprint)
    expect((await buyer.souk('remote', 'show')).out).toContain(`pinned    ${shop.fingerprint}`)
  })

  test.skipIf(!hasCurl)('is held to it by curl too', async () => {
    curl = (await buyer.json('api', '/v1/balance', '--curl')).curl
    const { stdout } = await exec('/bin/sh', ['-c', `${curl} -sS`])
    expect(JSON.parse(stdout)).toMatchObject({ available: expect.any(String) })
  })
})

describe('somebody in the middle with another certificate', () => {
  let heard: Buffer[]
  let middle: Server
  let shown: string
  beforeAll(async () => {
    await seller.json('down')
    const dataDir = join(buyer.home, 'middle')
    mkdirSync(dataDir)
    const { cert, key, fingerprint } = await ownCertificate({ dataDir, host: HOST, now: Date.now() })
    shown = fingerprint
    heard = []
    middle = createServer({ cert, key }, (socket: TLSSocket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => heard.push(bytes))
    })
    middle.listen(Number(portOf(shop.url)), HOST)
    await once(middle, 'listening')
  })
  afterAll(() => void middle.close())

  test.each([
    'status',
    'balance',
    'buy qr_code -i data=x --pay x402 --yes',
    'balance deposit 0.50 --yes',
    'account show',
    'api /v1/balance --curl',
  ])('gets nothing of souk %s: no key, no signature, not one byte', async (line) => {
    const { code, out, err } = await buyer.souk(...line.split(' '))
    expect([code, out]).toEqual([4, ''])
    for (const fact of [shop.fingerprint, shown, 'souk remote remove shop', `souk remote add shop ${shop.url}`]) {
      expect(err).toContain(fact)
    }
    expect(Buffer.concat(heard).toString()).toBe('')
  })

  test.skipIf(!hasCurl)('gets nothing of a line for curl that was kept', async () => {
    const PINNED_KEY_DIFFERS = 90
    await expect(exec('/bin/sh', ['-c', `${curl} -sS`])).rejects.toMatchObject({ code: PINNED_KEY_DIFFERS })
    expect(Buffer.concat(heard).toString()).toBe('')
  })

  test('gets nothing of who added it as a one-off address either', async () => {
    const { code, err } = await buyer.souk(
      'status',
      '--base-url',
      `https://${HOST}:${(middle.address() as AddressInfo).port}`,
    )
    expect([code, err]).toEqual([4, expect.stringContaining('it is self-signed')])
    expect(Buffer.concat(heard).toString()).toBe('')
  })
})

/** An address of this machine that others could reach it by, where it is in any network. */
const lan = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

test.skipIf(lan === undefined)('nothing is paid over plain HTTP to another machine', async () => {
  const plain = await seller.json('up', '--port', '0', '--host', lan ?? '', '--instance', 'plain', '--seed', 'house')
  await buyer.json('remote', 'add', 'plain', plain.url)
  for (const pay of ['x402', 'balance']) {
    const { code, err } = await buyer.souk('buy', 'qr_code', '-i', 'data=x', '--pay', pay, '--yes', '-r', 'plain')
    expect([code, err]).toEqual([5, expect.stringContaining('plain HTTP')])
  }
})
