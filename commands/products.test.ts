import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'
import { keepApiKey } from '../src/client/secrets.ts'
import { placesOf } from '../src/client/settings.ts'
import { currentWallet } from '../src/client/wallets.ts'

/* One who sells files and one who buys them, at a real, detached daemon. */

const BOOK_BYTES = 3 * 1024 * 1024
const content = Buffer.alloc(BOOK_BYTES, 'a book. ')
const sha256 = createHash('sha256').update(content).digest('hex')

let user: User
let home: string
let book: string
let shelf: string

beforeAll(async () => {
  user = await openUserAtMarket()
  home = user.home
  book = join(home, 'ein „Buch“.pdf')
  shelf = join(home, 'shelf')
  writeFileSync(book, content)
  mkdirSync(shelf)
  for (const name of ['buyer', 'seller']) await user.register(name, '50.00')
})

afterAll(() => user.close())

const souk = (...words: string[]) => user.souk(...words)
const json = (...words: string[]) => user.json(...words)

const seller = (...words: string[]) => json('products', ...words, '--as', 'seller')
const buyer = (...words: string[]) => json('products', ...words, '--as', 'buyer')
const sell = (name = 'A book') => seller('create', '--name', name, '--price', '5.00', '--upload', book)

describe('a file', () => {
  it('is sold, bought, and checked when it arrives', async () => {
    const product = await sell()
    expect(product).toMatchObject({
      status: 'active',
      file: { name: 'ein „Buch“.pdf', sha256, size_bytes: BOOK_BYTES },
    })
    const bought = await buyer('buy', product.id, '--max-price', '10', '-o', shelf)
    expect(bought).toMatchObject({
      product_id: product.id,
      amount: '5.25',
      payment: { method: 'x402', paid: '5.25' },
      saved: { file: join(shelf, 'ein „Buch“.pdf'), sha256, size_bytes: BOOK_BYTES },
    })
    expect(readFileSync(bought.saved.file).equals(content)).toBe(true)
    expect(readdirSync(shelf)).toEqual(['ein „Buch“.pdf'])
    const { purchases } = await json('purchases', 'list', '--as', 'buyer')
    expect(purchases.map((one: { product_id: string }) => one.product_id)).toContain(product.id)
    expect((await json('money', 'audit', '--exit-status')).ok).toBe(true)
  })

  it('is not paid for while it has no place to go, and a folder that is missing is made', async () => {
    const product = await sell('A book without a shelf')
    const bought = async () => (await json('purchases', 'list', '--as', 'buyer')).total
    const before = await bought()
    const nowhere = join(book, 'in/')
    const { code, err } = await souk('products', 'buy', product.id, '--yes', '-o', nowhere, '--as', 'buyer')
    expect([code, await bought()]).toEqual([2, before])
    expect(err).toContain(`The folder ${nowhere} is not writable`)
    const { saved } = await buyer('buy', product.id, '--max-price', '10', '-o', join(home, 'new/shelf/'))
    expect(readdirSync(join(home, 'new/shelf'))).toEqual([basename(saved.file)])
  })

  it('is replaced on the disk only after a yes, and goes to stdout whole', async () => {
    const { id } = await sell()
    const target = join(shelf, 'mine.pdf')
    writeFileSync(target, 'something of mine')
    const refused = await souk('products', 'download', id, '-o', target, '--as', 'seller')
    expect([refused.code, readFileSync(target, 'utf8')]).toEqual([2, 'something of mine'])
    await seller('download', id, '-o', target, '--yes')
    expect(statSync(target).size).toBe(BOOK_BYTES)
    const { out, code } = await souk('products', 'download', id, '-o', '-', '--as', 'seller')
    expect([code, out]).toEqual([0, content.toString()])
  })

  it('is not even paid for where it may not be put', async () => {
    const { id } = await sell()
    const refused = await souk('products', 'buy', id, '--max-price', '10', '-o', shelf, '--as', 'buyer')
    expect([refused.code, (await seller('view', id)).sold]).toEqual([2, 0])
    expect((await buyer('buy', id, '--max-price', '10', '-o', shelf, '--yes')).saved.sha256).toBe(sha256)
  })

  it('stays for its buyer when it is deleted', async () => {
    const { id } = await sell('Gone soon')
    await buyer('buy', id, '--max-price', '10')
    await seller('delete', id, '--yes')
    expect(await buyer('download', id, '-o', join(shelf, 'kept.pdf'))).toMatchObject({ sha256 })
    expect((await souk('products', 'view', id)).code).toBe(3)
  })
})

it('a draft waits for its file', async () => {
  const draft = await seller('create', '--name', 'Soon', '--price', '1.00')
  expect(draft).toMatchObject({ status: 'draft', file: null })
  const mine = await seller('list', '--mine', '-s', 'soon')
  expect(mine.products.map((one: { id: string }) => one.id)).toEqual([draft.id])
  expect((await buyer('list', '-s', 'soon')).total).toBe(0)
  expect(await seller('edit', draft.id, '--upload', book, '--price', '2.00')).toMatchObject({
    status: 'active',
    price: '2.00',
  })
})

describe('what cannot be', () => {
  it.each<[string, (id: string) => string[], [exit: number, said: RegExp]]>([
    [
      'a file that is not there',
      () => ['create', '--name', 'A', '--price', '1', '--upload', '/nowhere/book'],
      [2, /no file/],
    ],
    ['a product without a price', () => ['create', '--name', 'A'], [2, /--price/]],
    ['a file in the place of another', (id) => ['edit', id, '--upload', book], [6, /active/]],
    ['a change of nothing', (id) => ['edit', id], [2, /at least one change/]],
    ['an unknown product', () => ['view', 'prod_0123456789abcdef'], [3, /not found/]],
    ['a purchase of one’s own', (id) => ['buy', id, '--max-price', '10'], [6, /own product/]],
    ['a price above the limit', (id) => ['buy', id, '--max-price', '0.10'], [5, /above the limit/]],
  ])('%s', async (_, words, [exit, message]) => {
    const { id } = await sell()
    const { code, out, err } = await souk('products', ...words(id), '--as', 'seller')
    expect([code, out]).toEqual([exit, ''])
    expect(err).toMatch(message)
  })

  it('a file that nobody bought', async () => {
    const { id } = await sell()
    const { code, err } = await souk('products', 'download', id, '-o', join(shelf, 'stolen.pdf'), '--as', 'buyer')
    expect([code, readdirSync(shelf)]).toEqual([4, expect.not.arrayContaining(['stolen.pdf'])])
    expect(err).toContain('purchase')
  })

  it('a dry run uploads, downloads and buys nothing', async () => {
    const { id } = await sell()
    for (const words of [
      ['create', '--name', 'Dry', '--price', '1.00', '--upload', book],
      ['download', id, '-o', join(shelf, 'dry.pdf')],
    ]) {
      expect((await souk('products', ...words, '--dry-run', '--as', 'seller')).code).toBe(0)
    }
    expect((await seller('list', '-s', 'dry', '--mine')).total).toBe(0)
    expect(readdirSync(shelf)).not.toContain('dry.pdf')
  })
})

it('files of a conversation go both ways', async () => {
  const set = ['name=Portrait', 'description=Drawn', 'price=0.50', 'fulfillment_type=human']
  const listing = await json('services', 'create', ...set.flatMap((one) => ['--set', one]), '--as', 'seller')
  const { thread_id: thread } = await json('services', 'inquire', listing.id, '-m', 'A cat', '--as', 'buyer')
  const note = join(home, 'note.txt')
  writeFileSync(note, 'with a hat')
  const sent = await json('threads', 'attach', thread, note, book, '-m', 'Like this', '--as', 'buyer')
  expect(sent.files.map((one: { name: string }) => one.name)).toEqual(['note.txt', 'ein „Buch“.pdf'])
  const [{ file_id: file }] = sent.files
  const saved = await json('threads', 'download', thread, file, '-o', shelf, '--as', 'seller')
  expect(readFileSync(saved.file, 'utf8')).toBe('with a hat')
  const { messages } = await json('threads', 'view', thread, '--as', 'seller')
  expect(messages.slice(-2).map((one: { body: string }) => one.body)).toEqual(['Like this', 'ein „Buch“.pdf'])
})

describe('a download from an instance that cannot be trusted', () => {
  const digest = (text: string) => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
  type Sent = { headers: Record<string, string>; body: string }

  it.each<[string, Sent, RegExp]>([
    ['another content than its hash says', { headers: { 'Repr-Digest': digest('a') }, body: 'b' }, /damaged/],
    ['no hash at all', { headers: {}, body: 'b' }, /has no hash/],
    [
      'less than it says',
      { headers: { 'Repr-Digest': digest('b'), 'Content-Length': '10' }, body: 'b' },
      /damaged|lost/,
    ],
  ])('%s: nothing is kept', async (_, sent, message) => {
    await from(sent, async (url) => {
      const { code, err } = await souk('threads', 'download', 't', 'f', '-o', shelf, '--base-url', url, '--as', 'buyer')
      expect(code).not.toBe(0)
      expect(err).toMatch(message)
    })
    expect(readdirSync(shelf).filter((name) => name.endsWith('.part') || name === 'f')).toEqual([])
  })

  it.each([
    ['../../escape.txt', '_.._escape.txt'],
    ['/etc/passwd', '_etc_passwd'],
    ['.bashrc', 'bashrc'],
    ['con.txt', '_con.txt'],
    ['a\u202egpj.exe', 'a_gpj.exe'],
    ['..', 'f'],
  ])('the name %j becomes %j', async (name, kept) => {
    const headers = {
      'Repr-Digest': digest('b'),
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    }
    await from({ headers, body: 'b' }, async (url) => {
      const words = ['threads', 'download', 't', 'f', '-o', shelf, '--base-url', url, '--as', 'buyer', '--yes']
      expect((await json(...words)).file).toBe(join(shelf, kept))
    })
    rmSync(join(shelf, kept))
  })

  async function from({ headers, body }: Sent, use: (url: string) => Promise<void>): Promise<void> {
    const server = createServer((_req, res) => {
      res.writeHead(200, headers)
      res.write(body)
      if (headers['Content-Length']) res.destroy()
      else res.end()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    keyFor(url)
    try {
      await use(url)
    } finally {
      server.close()
    }
  }

  /** A key where a registration at that address would have left one. */
  function keyFor(url: string): void {
    const places = placesOf({ HOME: home, TMPDIR: home })
    const wallet = currentWallet(places, 'buyer')?.address as string
    keepApiKey(places, url, { wallet, key: `sk_${'0'.repeat(40)}` })
  }
})
