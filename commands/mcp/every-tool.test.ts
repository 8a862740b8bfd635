import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openUserAtMarket } from '../../fixtures/kit/user.ts'
import { type Foreign, load as outside } from '../../fixtures/outside/load.ts'
import { bodyExamples } from '../../src/api/openapi/requests.ts'
import { SUBSCRIBING } from '../../src/api/sections/named-services.ts'
import { formatAmount } from '../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import { endpointTools } from '../../src/mcp/tools.ts'
import { namedServices, namedSlugs } from '../../src/model/service.ts'

/* Four people and an operator, each an agent with the official client, trade until every tool has done its work. */

const { Client } = await outside('@modelcontextprotocol/client')
const { StdioClientTransport } = await outside('@modelcontextprotocol/client/stdio')

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, each read by the step that asked
type Answer = any
type Did = (name: string, given?: object) => Promise<Answer>

const LISTING = {
  name: 'A careful count',
  description: 'Counts words by hand.',
  price: '0.40',
  fulfillment_type: 'human',
  category: 'text',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}
const INPUT = { text: 'a b' }
const DELIVERY = { status: 'completed', deliverables: [{ words: 2 }] }
const COMPLAINT = { reason: 'There are three.', category: 'quality' }

test('every tool does its work at a living market', async () => {
  const user = await openUserAtMarket()
  const shop = createServer((_, answer) => answer.writeHead(500).end()).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const webhook_url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/hook`
  const clients: Foreign[] = []
  const used = new Set<string>()
  const offered: string[][] = []
  async function person(name: string, ...words: string[]): Promise<Did> {
    const client = new Client({ name: 'agent', version: '1' })
    const args = [PROGRAM, 'mcp', '--tools', 'all', '--as', name, ...words]
    const env = { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home }
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
    clients.push(client)
    const { tools } = await client.listTools()
    offered.push(tools.map(({ name }: Foreign) => name))
    return async (tool, given = {}) => {
      const { isError, content, structuredContent } = await client.callTool({ name: tool, arguments: { ...given } })
      if (isError === true) throw new Error(`${tool}: ${JSON.stringify(content)}`)
      used.add(tool)
      return structuredContent
    }
  }
  try {
    for (const name of ['seller', 'buyer', 'late', 'shopkeeper']) {
      await user.json('wallet', 'new', name)
      await user.json('wallet', 'fund', name, '--amount', '400.00')
      await user.json('wallet', 'policy', 'set', name, '--per-day', '400.00')
    }
    const pays = ['--max-price', '100.00']
    const [seller, buyer, late, keeper, operator] = await Promise.all([
      person('seller', ...pays),
      person('buyer', ...pays),
      person('late', ...pays),
      person('shopkeeper', ...pays),
      person('seller', '--admin', ...pays),
    ])
    const world = { seller, buyer, late, keeper, operator, webhook_url, user }
    await enter(world)
    await sell(world)
    await haggle(world)
    await subscribe(world)
    await bid(world)
    await sellFiles(world)
    await handleMoney(world)
    await sellByName(world)
    await leave(world)
    await operate(world)
    const tools = endpointTools({ admin: true, readonly: false, groups: ['all'] }).map(({ name }) => name)
    expect(offered).toContainEqual([...tools, 'wait_for_job'])
    expect(tools.filter((name) => !used.has(name))).toEqual([])
  } finally {
    for (const client of clients) await client.close()
    shop.close()
    await user.close()
  }
})

type World = {
  readonly seller: Did
  readonly buyer: Did
  /** Comes by the seller's word. */
  readonly late: Did
  readonly keeper: Did
  readonly operator: Did
  readonly webhook_url: string
  readonly user: Awaited<ReturnType<typeof openUserAtMarket>>
}

async function addressOf({ user }: World, name: string): Promise<string> {
  const { wallets } = await user.json('wallet', 'list')
  return wallets.find((one: Answer) => one.name === name).address
}

async function enter(world: World): Promise<void> {
  const { seller, buyer, late, keeper, operator } = world
  await seller('register', { body: { name: 'Seller', type: 'both' } })
  await buyer('register', { body: { name: 'Buyer', type: 'both' } })
  const { referral_code } = await seller('get_referral_code')
  await late('register', { body: { name: 'Late', type: 'both', referral_code } })
  await keeper('onboard_provider', { body: bodyExamples['onboardProvider'] })
  await seller('rotate_key')
  const { version } = await seller('get_terms')
  await seller('accept_terms', { body: { version } })
  const wallet = await addressOf(world, 'seller')
  const { identity } = await operator('faucet', { body: { wallet, amount: '1.00', identity: true } })
  await seller('link_identity', { body: { ...identity, agent_id: Number(identity.agent_id) } })
  await buyer('open_faucet', { body: { wallet } })
  const { participants } = await buyer('get_directory')
  const { participants: all } = await operator('list_participants')
  const { id } = all.find((one: Answer) => one.wallet.toLowerCase() === wallet.toLowerCase())
  for (const tool of ['get_profile', 'get_identity_file']) await buyer(tool, { id: participants[0].id })
  await seller('get_participant', { id })
  await seller('update_participant', { id, body: bodyExamples['updateParticipant'] })
  await operator('set_participant', { id, body: bodyExamples['setParticipant'] })
  const { consent_url } = await seller('start_verification')
  const token = consent_url.split('/').at(-1)
  const { origin } = new URL(consent_url)
  await fetch(`${origin}/v1/verification/consent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, operator_name: 'Ada Lovelace', agree: true }),
  })
  await seller('get_verification_status')
  const { attempts } = await operator('list_verifications')
  await operator('decide_verification', { id: attempts[0].id, body: { decision: 'approved', reason: 'papers seen' } })
  await buyer('get_reputation', { wallet })
  await buyer('get_reputations', { body: { wallets: [wallet] } })
  await buyer('get_onchain_reputation', { wallet })
}

async function sell({ seller, buyer, operator, webhook_url }: World): Promise<void> {
  const { id } = await seller('create_service', { body: { ...LISTING, webhook_url } })
  await seller('update_service', { id, body: { description: 'Counts words by hand, twice.' } })
  await seller('test_service', { id })
  await buyer('get_catalog', { q: 'careful' })
  await buyer('get_service', { id })
  await buyer('discover')
  const buy = async (): Promise<string> => (await buyer('purchase_service', { id, body: INPUT })).job_id
  const jobs = [await buy(), await buy(), await buy(), await buy()] as const
  const [kept, disputed, stuck, asked] = jobs
  await buyer('list_jobs')
  for (const job of jobs) await seller('update_job', { id: job, body: DELIVERY })
  await buyer('get_job', { id: kept })
  await buyer('post_job_message', { id: asked, body: { message: 'When?' } })
  await seller('get_job_messages', { id: asked })
  await buyer('verify_job', { id: kept, body: { rating: 5 } })
  await buyer('get_own_story', { id: kept })
  await seller('get_own_attention')
  await buyer('dispute_job', { id: disputed, body: COMPLAINT })
  await operator('get_job_bundle', { id: disputed })
  await operator('resolve_job', { id: disputed, body: { outcome: 'refund', reason: 'three it is' } })
  await operator('pause_escrow', { body: { reason: 'the chain is slow' } })
  await operator('withdraw_job', { id: stuck, body: { reason: 'the provider is gone' } })
  await operator('get_escrow_paused')
  await operator('unpause_escrow', { body: {} })
  await operator('list_all_jobs')
  const { deliveries } = await seller('list_deliveries')
  await seller('replay_delivery', { id: deliveries[0].id })
  await operator('get_webhooks')
  await operator('replay_for_operator', { id: deliveries[0].id })
  const { requests } = await operator('list_requests')
  await operator('get_request_story', { id: requests[0].request_id ?? requests[0].id })
}

async function haggle({ seller, buyer, operator }: World): Promise<void> {
  const { price: _, ...unpriced } = LISTING
  const body = { ...unpriced, name: 'A count by word of mouth', pricing_model: 'quote_required' }
  const { id } = await seller('create_service', { body })
  const ask = async (): Promise<string> => (await buyer('inquire', { id, body: { brief: INPUT } })).thread_id
  const [won, lost, doubted] = [await ask(), await ask(), await ask()]
  await buyer('list_threads')
  await buyer('get_thread', { id: won })
  await buyer('post_thread_message', { id: won, body: { message: 'By Friday?' } })
  await buyer('decline_thread', { id: lost, body: { reason: 'Found it myself.' } })
  for (const thread of [won, doubted]) {
    await seller('propose_price', { id: thread, body: { price: '2.00', message: 'By hand.' } })
    await buyer('accept_price', { id: thread, body: {} })
    await seller('update_thread', { id: thread, body: DELIVERY })
  }
  await buyer('verify_thread', { id: won, body: { rating: 5 } })
  await buyer('dispute_thread', { id: doubted, body: COMPLAINT })
  await operator('list_all_threads')
  await operator('read_any_thread', { id: won })
  const { services } = await buyer('get_catalog', { q: 'seo audit' })
  const { thread_id } = await buyer('inquire', {
    id: services[0].id,
    body: { brief: { site_url: 'https://example.com' } },
  })
  await operator('answer_for_house', { id: thread_id, body: { message: 'Ten pages are fine.' } })
}

async function subscribe({ seller, buyer }: World): Promise<void> {
  const { id: service } = await seller('create_service', { body: { ...LISTING, name: 'A count a month' } })
  const body = { name: 'All words', price: '1.00', billing_period: 'monthly', service_ids: [service] }
  const { id } = await seller('create_plan', { body })
  await buyer('list_plans')
  await buyer('get_plan', { id })
  await seller('update_plan', { id, body: { description: 'Every word.' } })
  const { subscription_id } = await buyer('subscribe', { id })
  await buyer('list_subscriptions')
  for (const tool of ['get_subscription', 'pause_subscription', 'resume_subscription', 'cancel_subscription']) {
    await buyer(tool, { id: subscription_id })
  }
  await seller('delete_plan', { id })
}

async function bid({ seller, buyer, late, keeper }: World): Promise<void> {
  await seller('set_posting_notifications', { body: { categories: ['text'] } })
  await seller('get_posting_notifications')
  const { posting_id: id } = await buyer('create_posting', { body: bodyExamples['createPosting'] })
  await seller('list_postings')
  await seller('get_posting', { id })
  const offer = async (by: Did, price_usd: string): Promise<string> => {
    const { id: service_id } = await by('create_service', { body: { ...LISTING, name: `A bid of ${price_usd}` } })
    return (await by('create_bid', { id, body: { price_usd, eta_hours: 24, service_id, pitch: 'I count.' } })).bid_id
  }
  const [best, other] = [await offer(seller, '1.00'), await offer(late, '1.50')]
  await buyer('list_bids', { id })
  await late('withdraw_bid', { id, bidId: other })
  await buyer('award_posting', { id, body: { bid_id: best } })
  const { posting_id: second } = await keeper('create_posting', { body: bodyExamples['createPosting'] })
  await keeper('cancel_posting', { id: second })
  await seller('end_posting_notifications')
}

async function sellFiles({ seller, buyer, user }: World): Promise<void> {
  await seller('create_product', { body: { name: 'A draft', price: '1.00' } })
  const book = join(user.home, 'book.txt')
  writeFileSync(book, 'a b c')
  const { id } = await user.json(
    'products',
    'create',
    '--name',
    'A book',
    '--price',
    '0.50',
    '--upload',
    book,
    '--as',
    'seller',
  )
  await buyer('list_products')
  await buyer('get_product', { id })
  await buyer('purchase_product', { id, body: {} })
  await buyer('list_purchases')
  await seller('update_product', { id, body: { price: '0.60' } })
  await seller('delete_product', { id })
}

async function handleMoney({ seller, buyer, late, operator, user }: World): Promise<void> {
  await buyer('deposit', { body: { amount: '5.00' } })
  const { participants } = await operator('list_participants', { filter: 'name:Buyer' })
  await operator('adjust_balance', { id: participants[0].id, body: bodyExamples['adjustBalance'] })
  await buyer('get_balance')
  await buyer('get_holdings', { of: participants[0].wallet })
  // A wallet has one payout at a time, and what it got back earlier may be on its way.
  await vi.waitFor(() => buyer('withdraw_balance', { body: { amount: '1.00' } }), { timeout: 240_000, interval: 500 })
  await buyer('get_balance_history')
  await buyer('read_events')
  // Whoever was brought sells something: a share of the fee is the seller's.
  const { id } = await late('create_service', { body: { ...LISTING, name: 'A count by a newcomer', price: '80.00' } })
  const { job_id } = await buyer('purchase_service', { id, body: INPUT })
  await late('update_job', { id: job_id, body: DELIVERY })
  await buyer('verify_job', { id: job_id, body: {} })
  const { receipts } = await user.json('receipts', 'list', '--as', 'buyer')
  await buyer('get_receipt', { id: receipts[0].receipt_id })
  await operator('move_clock', { body: { advance_ms: 3 * DAY_MS + HOUR_MS } })
  await seller('get_earnings')
  for (const tool of ['get_referral_program', 'list_referrals', 'get_referral_earnings']) await seller(tool)
  await seller('withdraw_referrals', { body: { to: 'balance' } })
}

/** What the advertised paths sell, at the least that each may cost. */
async function sellByName({ seller, buyer, operator }: World): Promise<void> {
  for (const slug of namedSlugs) {
    const price = formatAmount(namedServices[slug].min)
    const isPlan = slug === SUBSCRIBING
    const { id: service } = await seller('create_service', { body: { ...LISTING, name: `For ${slug}` } })
    const plan = { name: `For ${slug}`, price, billing_period: 'monthly', service_ids: [service] }
    const behind = isPlan ? { plan: (await seller('create_plan', { body: plan })).id } : { from: 'qr_code', price }
    await operator('set_named_service', { slug, body: behind })
    await buyer(slug.replace('-', '_'), { body: isPlan ? {} : { data: 'hello' } })
  }
}

async function operate(world: World): Promise<void> {
  const { buyer, operator } = world
  const wallet = `0x${'0c'.repeat(20)}`
  const tools = ['pause_platform', 'unpause_platform', 'set_features', 'add_sanction'] as const
  const bodies = [
    { reason: 'a look' },
    {},
    { checkout_v2: true, reason: 'it is there' },
    { wallet, reason: 'an order' },
  ]
  for (const [at, tool] of tools.entries()) await operator(tool, { body: bodies[at] ?? {} })
  await operator('remove_sanction', { wallet })
  await buyer('get_platform_status').catch(() => operator('get_platform_status'))
  const { crons } = await operator('list_crons')
  const { name } = crons[0]
  for (const tool of ['pause_cron', 'resume_cron', 'run_cron']) await operator(tool, { name })
  for (const tool of [
    'get_features',
    'get_admin_log',
    'get_clock',
    'get_holds',
    'get_audit',
    'get_payouts',
    'list_sanctions',
    'get_attention',
    'get_alarms',
    'test_alarms',
    'get_chain_costs',
    'list_engines',
    'list_all_services',
    'list_all_plans',
    'list_all_subscriptions',
    'list_all_postings',
    'list_all_products',
    'list_payees',
    'check_engines',
    'get_series',
    'get_endpoint_figures',
    'get_river',
    'get_logs',
    'get_health',
    'list_resources',
    'get_manifest',
    'get_watching',
    'list_facilitated_settlements',
    'get_chain',
  ]) {
    await operator(tool)
  }
  // A sandbox has no keys that others could take.
  expect(await operator('rotate_operator_key', { body: { role: 'pay_to' } })).toMatchObject({ keys: [] })
  await buyer('search_resources', { query: 'count' })
}

async function leave({ seller }: World): Promise<void> {
  const { id } = await seller('create_service', { body: { ...LISTING, name: 'A last one' } })
  await seller('delete_service', { id })
}
