import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Child, startChild, startDaemon } from '../../../fixtures/kit/child.ts'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { type Answer, type Calls, callsTo } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import type { Config } from '../../../src/model/start.ts'

// @deep a daemon and a provider are killed again and again

const JOBS = 18
const KILLS = 3
/** Between kills: long enough to get somewhere, short enough to hit everything that is under way. */
const LIFE_MS = 120
const RETRY_MS = 20
const PRICE = 0.525
const NET = 0.5

/** Asks until somebody answers: the daemon dies under the call now and then. */
async function insist(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call().catch(() => undefined) // killed
    if (answer && answer.status < 500) return answer
    await sleep(RETRY_MS)
  }
}

async function listService(provider: Person): Promise<string> {
  const listed = await provider.call('POST', '/v1/services', {
    name: 'Upper case',
    description: 'Makes it loud.',
    price: '0.50',
    estimated_delivery: '1 hour',
    fulfillment_type: 'human',
  })
  if (listed.status !== 200) throw new Error(listed.text)
  return listed.body.id
}

/** From the balance, with a key that makes a repeat safe. */
async function pay(calls: Calls, who: Person, request: { path: string; body: unknown; idempotencyKey: string }) {
  const { path, body, idempotencyKey } = request
  const headers = { 'X-BALANCE-AUTH': who.key, 'Idempotency-Key': idempotencyKey }
  const answer = await insist(() => calls.call('POST', path, { body, headers }))
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

test('a provider that only polls gets every job once, over kills of the daemon and of itself', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'souk-polling-'))
  const home = join(dir, 'provider')
  await mkdir(home)
  const config: Config = {
    dataDir: join(dir, 'daemon'),
    ...configDefaults,
    durability: 'full',
  }
  let daemon = await startDaemon(config)
  const { url } = daemon
  const calls = callsTo(() => url, config.dataDir)
  const provider = await registered(calls, { type: 'provider' })
  const service = await listService(provider)
  const buyer = await registered(calls, { type: 'agent' })
  expect((await buyer.pay('/v1/balance/deposit?amount=9.99')).status).toBe(200)
  let working: Child = startChild('polling-provider.ts', { url, key: provider.key, dir: home })
  try {
    const buying = Promise.allSettled(
      Array.from({ length: JOBS }, async (_, number) => {
        await sleep((number * LIFE_MS * KILLS) / JOBS)
        const path = `/v1/services/${service}/purchase`
        const order = { path, body: { text: `order ${number}` }, idempotencyKey: `buy-${number}` }
        return (await pay(calls, buyer, order)).job_id as string
      }),
    )
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(LIFE_MS)
      await daemon.kill()
      if (kill % 2 === 1) await working.kill()
      daemon = await startDaemon({ ...config, port: Number(new URL(url).port) })
      if (kill % 2 === 1) working = startChild('polling-provider.ts', { url, key: provider.key, dir: home })
    }
    const jobs = (await buying).map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))
    expect(new Set(jobs).size).toBe(JOBS)

    for (const job of jobs) {
      while ((await buyer.call('GET', `/v1/jobs/${job}`)).body.status === 'dispatched') await sleep(RETRY_MS)
      const path = `/v1/jobs/${job}/verify`
      const verified = await pay(calls, buyer, { path, body: {}, idempotencyKey: `verify-${job}` })
      expect([job, verified.status]).toEqual([job, 'released'])
      const { messages } = (await buyer.call('GET', `/v1/jobs/${job}/messages`)).body
      expect(messages.filter(({ type }: { type: string }) => type === 'delivery')).toHaveLength(1)
    }
    const { body: balance } = await buyer.call('GET', '/v1/balance')
    expect(Number(balance.balance)).toBeCloseTo(9.99 - JOBS * (PRICE + 0.001), 6)
    const audit = await calls.admin('GET', '/dashboard/api/admin/audit')
    expect(audit.body.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    const mine = (await provider.call('GET', '/v1/jobs?role=provider&status=released&limit=100')).body.jobs
    expect(mine.map((job: { id: string }) => job.id).toSorted()).toEqual(jobs.toSorted())
    expect(mine.every((job: { provider_amount: string }) => Number(job.provider_amount) === NET)).toBe(true)
    const answered = (await readFile(join(home, 'answers'), 'utf8')).trim().split('\n')
    expect(answered.filter((line) => line.endsWith(' 200')).length).toBeLessThanOrEqual(JOBS)
  } finally {
    await Promise.all([daemon.kill(), working.kill()])
    await rm(dir, { recursive: true, force: true })
  }
})
