import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engineBoard } from '../daemon/engines/engines.ts'
import { firstPartyServices } from '../daemon/features/first-party/index.ts'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'
import { toolPath } from '../fixtures/kit/tools.ts'
import { openFunctionWorld } from '../fixtures/market/function-world.ts'
import { toWallet } from '../src/core/hex.ts'
import type { AnyObject } from '../src/core/json.ts'
import { amountOf } from '../src/core/money.ts'

/* One buyer at the command line buys every function of the house again and again; whatever comes of it, the books agree. */
// @deep a hundred purchases of everything

const PURCHASES = 100
const AT_ONCE = 3
const FUNDS = '100.00'
/** Programs of the system, without which some functions are not offered. */
const hasAll = ['ffmpeg', 'espeak-ng', 'apertium', 'chromium-headless-shell'].every((tool) => toolPath(tool))

let world: Awaited<ReturnType<typeof openFunctionWorld>>
let shop: RemoteMarket
beforeAll(async () => {
  world = await openFunctionWorld()
  shop = await openRemoteMarket(world.ports)
  await engineBoard.of(shop.market.daemon.ctx).ready
  await shop.json(['wallet', 'new', 'main'])
  await shop.json(['wallet', 'fund', 'main', '--amount', FUNDS])
})
afterAll(async () => {
  await shop.market.close()
  await world.close()
})

type Order = { readonly slug: string; readonly input: AnyObject; readonly isFaulty: boolean }
type Bought = { readonly slug: string; readonly code: number; readonly isFaulty: boolean }

/** What comes to nothing: a page that is not there, a notice that nobody has, a recording that is none. */
const faulty = (): Order[] =>
  Object.entries({
    link_preview: { url: world.site.at('/missing') },
    grant_application_checklist: { opportunity_id: '999' },
    website_research_context: { url: world.site.at('/missing') },
    sentiment_analysis: { text: 'Das Wetter ist heute leider gar nicht schön.' },
  }).map(([slug, input]) => ({ slug, input, isFaulty: true }))

const folderOf = (slug: string) => join(shop.home, 'results', slug)

async function buy({ slug, input, isFaulty }: Order): Promise<Bought> {
  const id = await shop.market.serviceId(slug)
  const words = ['buy', id, '--input-file', '-', '--json', '--pay', 'x402', '--wait', '--save', folderOf(slug)]
  const { code } = await shop.souk(words, { stdin: JSON.stringify(input) })
  return { slug, code, isFaulty }
}

async function offered(): Promise<string[]> {
  const { lacking } = engineBoard.of(shop.market.daemon.ctx)
  const there = [...firstPartyServices.values()].filter((one) => lacking(one.needs).length === 0)
  return there.map(({ slug }) => slug)
}

test('a hundred purchases over all functions are answered or refunded, and the books agree', async () => {
  const slugs = await offered()
  if (hasAll) expect(slugs).toHaveLength(firstPartyServices.size)
  const bad = faulty()
  const good = Array.from({ length: PURCHASES - bad.length }, (_, at): Order => {
    const slug = slugs[at % slugs.length] ?? ''
    return { slug, input: world.inputs[slug] ?? { data: 'hello' }, isFaulty: false }
  })
  const orders = [...bad, ...good]
  const bought: Bought[] = []
  const buyer = async () => {
    for (let next = orders.shift(); next !== undefined; next = orders.shift()) bought.push(await buy(next))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, buyer))
  expect(bought).toHaveLength(PURCHASES)
  expect(bought.filter(({ code, isFaulty }) => (code === 0) === isFaulty)).toEqual([])
  const { jobs } = await shop.json(['admin', 'jobs', 'list', '--limit', '100'])
  const isRefunded = ({ status }: { status: string }) => ['failed', 'refunded'].includes(status)
  const kept: { status: string; amount: string }[] = jobs.filter((job: { status: string }) => !isRefunded(job))
  expect(kept).toHaveLength(good.length)
  expect(jobs.filter(isRefunded)).toHaveLength(2)
  for (const job of kept) expect(['completed', 'verified', 'released']).toContain(job.status)
  const paid = kept.reduce((sum, { amount }) => sum + amountOf(amount), 0n)
  await expect.poll(left).toBe(amountOf(FUNDS) - paid)
  const audit = await shop.json(['money', 'audit'])
  expect(audit.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
})

async function left(): Promise<bigint> {
  const { wallets } = await shop.json(['wallet', 'list'])
  return shop.market.daemon.ctx.chain.balanceOf(toWallet(wallets[0].address))
}

/** What is delivered as a file, as whoever opens it knows it by. */
const isMp3 = (data: Buffer) => data.subarray(0, 3).toString() === 'ID3' || data.readUInt16BE(0) >= 0xffe0
const isWav = (data: Buffer) => data.subarray(0, 4).toString() === 'RIFF'
const files: Readonly<Record<string, readonly [name: RegExp, isThat: (data: Buffer) => boolean]>> = {
  audio_loudness_normalization: [/^audio\.mp3$/, isMp3],
  openapi_draft: [/^openapi\.json$/, (data) => JSON.parse(data.toString()).openapi.startsWith('3.1')],
  page_screenshot: [/^image\.png$/, (data) => PNG.sync.read(data).width === 1_366],
  pdf_generation: [/^pdf\.pdf$/, (data) => data.subarray(0, 5).toString() === '%PDF-'],
  qr_code: [/^qr_code\.png$/, (data) => PNG.sync.read(data).width === 300],
  style_guide: [/^result\.md$/, (data) => data.toString().startsWith('# ')],
  text_to_speech: [/^audio\.(mp3|wav)$/, (data) => isMp3(data) || isWav(data)],
  website_research_context: [/^agent_context\.md$/, (data) => data.toString().includes('Ducks')],
}

test('pictures, pages, recordings and documents were saved as what they are, under names of their own', async () => {
  const slugs = await offered()
  for (const [slug, [name, isThat]] of Object.entries(files).filter(([slug]) => slugs.includes(slug))) {
    const saved = readdirSync(folderOf(slug)).map((file) => ({ file, own: file.replace(/^job_[0-9a-f]{16}-/, '') }))
    const found = saved.filter(({ own }) => name.test(own))
    expect([slug, found.length > 0]).toEqual([slug, true])
    for (const { file } of found) expect(isThat(readFileSync(join(folderOf(slug), file)))).toBe(true)
    expect(saved.filter(({ own }) => !name.test(own)).map(({ own }) => own)).toEqual(found.map(() => 'result.json'))
  }
})
