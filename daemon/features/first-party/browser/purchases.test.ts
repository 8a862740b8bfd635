import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampled } from '../../../../fixtures/kit/depth.ts'
import { openFunctionWorld } from '../../../../fixtures/market/function-world.ts'
import { type Marketplace, openMarketplace } from '../../../../fixtures/market/marketplace.ts'
import { amountOf } from '../../../../src/core/money.ts'
import { checkDeliverable } from '../../../../src/schema/schema.ts'
import { engineBoard } from '../../../engines/engines.ts'
import { chromium, isGroupGone } from '../../../ports/browser/browser.testkit.ts'
import { type BrowserEngine, openBrowsers } from '../../../ports/browser/browser.ts'
import { jobs } from '../../jobs/rows.ts'
import { services } from '../../listings/rows.ts'

/* What a browser makes, bought with money from a running daemon: delivered and paid, or failed and not paid. */

const FUNDS = '1.00'
const LOOK_MS = 20
let world: Awaited<ReturnType<typeof openFunctionWorld>>
let browsers: BrowserEngine
let market: Marketplace
beforeAll(async () => {
  world = await openFunctionWorld()
  browsers = openBrowsers({ web: world.site.web() })
  market = await openMarketplace({}, { ...world.ports, engines: { ...world.ports.engines, browser: browsers } })
  await engineBoard.of(market.daemon.ctx).ready
})
beforeEach(() => {
  world.site.pages['/forever'] = { body: '<p>x</p><script>for (;;);</script>' }
})
afterAll(async () => {
  await market.close()
  await world.close()
})

const instant = ['page_screenshot', 'pdf_generation'] as const
const automated = ['accessibility_audit', 'performance_analysis', 'page_quality_audit', 'style_guide'] as const
const inputTo = (slug: string, path: string) => ({
  [slug === 'page_quality_audit' || slug === 'page_screenshot' || slug === 'pdf_generation' ? 'url' : 'site_url']:
    world.site.at(path),
})

// biome-ignore lint/suspicious/noExplicitAny: results of six functions
type Body = { readonly job_id: string; readonly result?: any; readonly code?: string; readonly message?: string }

/** Buys with a fresh wallet; of a job, its end is waited for. */
async function buy(slug: string, path: string) {
  const { chain, store } = market.daemon.ctx
  const id = await market.serviceId(slug)
  const listing = await store.table(services).get(id)
  const buyer = await market.buyer(FUNDS)
  const answer = await buyer.fetch(1)(`${market.url()}/v1/services/${id}/purchase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(inputTo(slug, path)),
  })
  const body: Body = JSON.parse(await answer.text())
  const job = () => store.table(jobs).get(body.job_id)
  if (answer.status === 200 && body.result === undefined) {
    await expect.poll(async () => (await job())?.status).toMatch(/^(verified|released|failed)$/)
  }
  const row = answer.status === 200 ? await job() : undefined
  const paid = async () => amountOf(FUNDS) - (await chain.balanceOf(buyer.wallet))
  return { status: answer.status, body, job: row, paid, price: listing?.price, schema: listing?.deliverable_schema }
}

describe.skipIf(chromium === undefined)('bought from a running daemon', () => {
  it.each(sampled([...instant, ...automated], 3))('%s is delivered as its listing says, and paid for', async (slug) => {
    const { status, body, job, paid, price, schema } = await buy(slug, '/page')
    expect(status).toBe(200)
    const made = body.result ?? job?.deliverables?.[0]
    expect(checkDeliverable(schema ?? {}, made)).toMatchObject({ ok: true })
    expect(made.engine.name).toMatch(/chromium/)
    expect(await paid()).toBe(price)
    expect(browsers.running()).toEqual([])
  })

  it.each(sampled(instant, 2))('%s of a page that is gone is not paid for', async (slug) => {
    const { status, body, paid } = await buy(slug, '/missing')
    expect([status, body.code, body.message]).toEqual([502, 'provider_failed', 'The page returned status 404.'])
    expect(await paid()).toBe(0n)
  })

  it.each(sampled(automated, 4))('%s of a page that is gone is given back', async (slug) => {
    const { job, paid } = await buy(slug, '/missing')
    expect([job?.status, job?.escrow_status, job?.notes]).toEqual([
      'failed',
      'refunded',
      'The page returned status 404.',
    ])
    await expect.poll(paid).toBe(0n)
  })

  it.each(sampled([instant[0], automated[0]], 2))(
    '%s whose browser is killed while it works costs nothing, and the next is served',
    async (slug) => {
      const buying = buy(slug, '/forever')
      while (!world.site.asked.includes('GET /forever')) await sleep(LOOK_MS)
      const [group = 0] = browsers.running()
      process.kill(-group, 'SIGKILL')
      const { status, job, paid } = await buying
      expect(status === 200 ? job?.status : status).toEqual(status === 200 ? 'failed' : 503)
      await expect.poll(paid).toBe(0n)
      expect(await isGroupGone(group)).toBe(true)
      world.site.asked.length = 0
      const next = await buy('page_screenshot', '/page')
      expect([next.status, await next.paid()]).toEqual([200, next.price])
    },
  )

  it('leaves books that agree', async () => {
    const { body } = await market.admin('GET', '/dashboard/api/admin/audit')
    expect(body.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
  })
})
