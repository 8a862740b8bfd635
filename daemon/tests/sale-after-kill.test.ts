import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Child, startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { callsTo, signPayment } from '../../fixtures/market/marketplace.ts'

let dir: string
let child: (Child & { readonly url: string }) | undefined

const start = async () => {
  child = await startDaemon({ ...configDefaults, dataDir: dir, durability: 'full' })
  return child.url
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'souk-kill-'))
})
afterAll(async () => {
  await child?.kill()
  await rm(dir, { recursive: true, force: true })
})

test('after SIGKILL and restart the same header still gets that answer, its secret included', async () => {
  let url = await start()
  const { call, admin } = callsTo(() => url, dir)
  const payer = privateKeyToAccount(generatePrivateKey())
  await admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: payer.address, amount: '1.00' } })
  const catalog = await call('GET', '/v1/services/catalog?q=qr')
  const target = `/v1/services/${catalog.body.services[0].id}/purchase`
  const body = { data: 'survives' }
  const payment = await signPayment(payer, await call('POST', target, { body }))
  const headers = { ...payment, 'Idempotency-Key': 'kill' }
  const first = await call('POST', target, { body, headers })
  expect(first.status).toBe(200)
  await child?.kill()
  url = await start()
  const again = await call('POST', target, { body, headers })
  expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  expect(again.text).toBe(first.text)
  const withoutKey = await call('POST', target, { body, headers: payment })
  expect([withoutKey.body.access_token, withoutKey.body.secret_withheld]).toEqual([null, true])
})
