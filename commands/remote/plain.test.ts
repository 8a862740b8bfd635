import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUser, type User } from '../../fixtures/kit/user.ts'
import { keepApiKey } from '../../src/client/secrets.ts'
import { placesOf } from '../../src/client/settings.ts'

// @slow a real daemon, and somebody who listens on the way to it

/* A marketplace that is spoken to over plain HTTP, by a name that could be another machine's. */

const KEY = /sk_[0-9a-f]{40}|adm_[0-9a-f]{40}|jt_[0-9a-f]{64}/
let seller: User
let buyer: User
let way: Server
let plain: string
let heard: IncomingHttpHeaders[]

beforeAll(async () => {
  seller = await openUser()
  buyer = await openUser()
  heard = []
  const { url } = await seller.json('up', '--port', '0', '--seed', 'house', '--allow-host', '0.0.0.0')
  const { port } = new URL(url)
  way = createServer((req, res) => {
    heard.push(req.headers)
    const { method, headers, url: path } = req
    const onward = request({ host: '127.0.0.1', port, method, headers, path, agent: false }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(res)
    })
    req.pipe(onward)
  })
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  const reached = (way.address() as AddressInfo).port
  plain = `http://0.0.0.0:${reached}`
  // An account made where nobody listens; its key is kept as that of the plain address too.
  await buyer.json('remote', 'add', 'near', `http://127.0.0.1:${port}`)
  await buyer.json('wallet', 'new', 'me')
  await buyer.json('wallet', 'fund', '-r', 'near')
  const { wallet } = await buyer.json('account', 'register', '-r', 'near')
  const places = placesOf({ HOME: buyer.home, TMPDIR: buyer.home }, {})
  const { apiKeyOf } = await import('../../src/client/secrets.ts')
  const key = apiKeyOf(places, `http://127.0.0.1:${port}`, wallet.toLowerCase()) ?? ''
  expect(key).toMatch(KEY)
  keepApiKey(places, plain, { wallet: wallet.toLowerCase(), key })
})
afterAll(async () => {
  way.closeAllConnections()
  way.close()
  await buyer.close()
  await seller.close()
})

const secrets = () => heard.filter((headers) => headers['x-api-key'] ?? headers.authorization ?? headers['x-payment'])

describe('without anybody’s word for the way', () => {
  beforeAll(async () => {
    expect(await buyer.json('remote', 'add', 'shop', plain)).toMatchObject({ credentials: 'withheld' })
  })

  test('the market is read, and test money asked for', async () => {
    expect((await buyer.json('services', 'list', '-r', 'shop')).total).toBeGreaterThan(0)
    expect((await buyer.json('health', '-r', 'shop')).service).toBeDefined()
    await buyer.json('wallet', 'fund', '-r', 'shop')
  })

  test.each([
    'balance',
    'account show',
    'jobs list',
    'threads list',
    'api /v1/balance',
    'api /v1/balance --curl',
    'services create --set name=x',
    'export -',
    'remote check --exit-status',
  ])('souk %s keeps its key, and says the ways out', async (line) => {
    const { code, out, err } = await buyer.souk(...line.split(' '), '-r', 'shop')
    expect([code, out]).toEqual([4, ''])
    const { host } = new URL(plain)
    for (const said of ['plain HTTP', `https://${host}`, `souk remote add shop ${plain} --plain-credentials`]) {
      expect(err).toContain(said)
    }
    expect(secrets()).toEqual([])
  })

  test('an admin key is not even kept for it', async () => {
    const admin = `adm_${'0'.repeat(40)}`
    const words = ['remote', 'add', 'other', plain, '--admin-key-stdin']
    const { code, err } = await buyer.soukWith({ stdin: admin }, ...words)
    expect([code, err]).toEqual([2, expect.stringContaining('--plain-credentials')])
    expect((await buyer.json('remote', 'list')).remotes.map(({ name }: { name: string }) => name)).not.toContain(
      'other',
    )
  })

  test('a one-off address gets no key either', async () => {
    const { code, err } = await buyer.souk('balance', '--base-url', plain)
    expect([code, err]).toEqual([4, expect.stringContaining('plain HTTP')])
    expect(secrets()).toEqual([])
  })
})

describe('where somebody vouches for the way', () => {
  test('keys go over it, and payments still do not', async () => {
    const added = await buyer.json('remote', 'add', 'shop', plain, '--plain-credentials')
    expect(added.credentials).toBe('sent')
    const { remotes } = await buyer.json('remote', 'list')
    const stated = remotes.map((one: { name: string; plain_credentials: boolean }) => [one.name, one.plain_credentials])
    expect(Object.fromEntries(stated)).toMatchObject({ local: false, near: false, shop: true })
    expect(await buyer.json('balance', '-r', 'shop')).toMatchObject({ available: expect.any(String) })
    expect(secrets()).toHaveLength(1)
    const paid = await buyer.souk('buy', 'qr_code', '-i', 'data=x', '--yes', '-r', 'shop')
    expect([paid.code, paid.err]).toEqual([5, expect.stringContaining('plain HTTP')])
    expect(heard.some((headers) => headers['x-payment'] ?? headers['payment-signature'])).toBe(false)
  })

  test('the flag is refused where it would mean nothing', async () => {
    for (const url of ['https://market.example', 'http://127.0.0.1:9']) {
      const { code, err } = await buyer.souk('remote', 'add', 'odd', url, '--plain-credentials')
      expect([code, err]).toEqual([2, expect.stringContaining('plain HTTP')])
    }
  })
})
