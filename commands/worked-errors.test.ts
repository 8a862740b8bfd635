import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'

/* Six errors, to the letter: one sentence, what is known, the way out as it can be pasted, the id of the request. */

let user: User
let url: string
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
  ;({ url } = await user.json('up', '--port', '0', '--seed', 'house'))
  await user.register('lab', '5')
  await user.register('seller', '5')
})
afterAll(() => user?.close())

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
const REQUEST = '  request req_[0-9a-f]{16}'
const words = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
/** The whole of stderr, a line each. */
const lines = (...all: readonly string[]) => new RegExp(`^${all.join('\n')}\n$`)

async function sell(listing: object): Promise<string> {
  const file = join(user.home, 'listing.json')
  await writeFile(file, JSON.stringify({ description: 'Sold here.', fulfillment_type: 'automated', ...listing }))
  return (await user.json('services', 'create', '-f', file, '--as', 'seller')).id
}

test('a payment that the balance is short of', async () => {
  const id = await sell({ name: 'SEO', price: '1.00' })
  await user.json('balance', 'deposit', '0.40', '--as', 'lab')
  const { code, out, err } = await user.souk('buy', id, '--as', 'lab', '--pay', 'balance', '--max-price', '2')
  expect([code, out]).toEqual([5, ''])
  expect(err.replace(/ {2}spent .*\n/, '')).toMatch(
    lines(
      words('✗ Payment of $1.05 was not made: lab has $0.40 available.  (exit 5)'),
      words(`  ${id} costs $1.00 + 5%; --pay balance uses only the balance`),
      words(`  → souk balance deposit 0.65 --as lab      → souk buy ${id} --as lab --max-price 2 --pay x402`),
      REQUEST,
    ),
  )
})

test('an input out of its range, beside one that is misspelt', async () => {
  const id = await sell({
    name: 'audio loudness',
    price: '0.50',
    input_schema: {
      type: 'object',
      properties: { targetLufs: { type: 'number', minimum: -24, maximum: -12 }, maxSeconds: { type: 'integer' } },
    },
  })
  const { code, out, err } = await user.souk('buy', id, '-i', 'targetLufs=-6', '-i', 'maxSecs=3')
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(
    lines(
      words('✗ "audio loudness" needs targetLufs between -24 and -12; you gave -6.  (exit 2)'),
      words('  also unknown: maxSecs (did you mean maxSeconds?)'),
      words(`  → souk services view ${id} --schema`),
    ),
  )
})

test('paid activity that is paused', async () => {
  await user.json('admin', 'platform', 'pause', '--reason', 'chain RPC is down', '--yes')
  const { code, out, err } = await user.souk('buy', 'qr_code', '-i', 'data=x')
  expect([code, out]).toEqual([7, ''])
  expect(err).toMatch(
    lines(
      `${words('✗ Paid activity is paused on local since ')}${TIME}${words(' (chain RPC is down).  (exit 7)')}`,
      words('  reads, balances and exports still work; nothing was charged'),
      words('  try again in 1m'),
      words('  → souk health'),
      REQUEST,
    ),
  )
  await user.json('admin', 'platform', 'unpause', '--yes')
})

test('what the cutover disables', async () => {
  await user.json('admin', 'features', 'set', 'checkout_v2', 'on', '--yes')
  const { code, out, err } = await user.souk(
    'products',
    'create',
    '--name',
    'Book',
    '--price',
    '5.00',
    '--as',
    'seller',
  )
  expect([code, out]).toEqual([9, ''])
  expect(err).toMatch(
    lines(
      words('✗ POST /v1/products is disabled during the checkout v2 cutover.  (exit 9)'),
      `${words('  reads still work: souk products list --as seller      ')}${words('status: souk endpoints list --status deferred')}`,
      REQUEST,
    ),
  )
  await user.json('admin', 'features', 'set', 'checkout_v2', 'off', '--yes')
})

test('a port that another program holds', async () => {
  const stranger = createServer((_, answer) => answer.end('hello'))
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  const { port } = stranger.address() as AddressInfo
  try {
    const { code, out, err } = await user.souk('up', '--port', String(port), '--instance', 'other')
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      lines(
        `✗ Port ${port} is used by another program: .+ \\(pid ${process.pid}, started ${TIME}\\)\\.  \\(exit 1\\)`,
        words('  it is not a souk daemon (its /health has no instance id)'),
        `  → souk up --port 0 --instance other      → souk up --port \\d+ --instance other`,
      ),
    )
  } finally {
    stranger.close()
  }
})

test('a daemon that does not run', async () => {
  await user.json('down')
  const { code, out, err } = await user.souk('services', 'list')
  expect([code, out]).toEqual([10, ''])
  expect(err).toMatch(
    lines(
      words('✗ The local daemon is not running.  (exit 10)'),
      `${words(`  nothing listens on ${url}; last stop was `)}\\d+s ago, cleanly`,
      words('  → souk up'),
    ),
  )
})
