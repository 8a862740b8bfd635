import type { System } from '../cli/env.ts'
import { OF_DEMO } from '../cli/wallet/persona.ts'
import { keepApiKey } from '../client/secrets.ts'
import type { Places } from '../client/settings.ts'
import { createWallet, getWallet, walletNames } from '../client/wallets.ts'
import { parseAmount } from '../core/money.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts'
import type { HistoryOutcome, PastMarket } from '../model/start.ts'
import {
  attach,
  bidOn,
  buy,
  consented,
  type DemoSale,
  hand,
  negotiate,
  openStock,
  type Play,
  planWeeks,
  postRequest,
  report,
  type Stock,
  say,
} from './acts.ts'
import { createAgenda, diceOf } from './agenda.ts'
import { openCast, roleNames, roles } from './cast.ts'
import { demoKey, openSink, type Person, personAt, type Stage } from './hand.ts'

export const DEMO_MS = 98 * DAY_MS
/** Ordinary trade ends this long before the end of the history; special situations follow. */
const LAST_WEEK_MS = 8 * DAY_MS
const DICE_SEED = 20_261

/** API keys by wallet name. */
type Keys = ReadonlyMap<string, { readonly address: string; readonly key: string }>

/** Creates the history up to `until`, with API requests only. */
export async function liveDemo(past: PastMarket, until: number): Promise<Keys> {
  const stage: Stage = { url: past.url, adminKey: past.adminKey, wall: past.now }
  const sink = await openSink()
  try {
    const opened = await openCast(stage, sink.url)
    const play: Play = { ...opened, agenda: createAgenda(), dice: diceOf(DICE_SEED), now: past.now, folder: past.files }
    const stock = await openStock(play)
    planWeeks(play, stock, { from: past.now() + DAY_MS, until: until - LAST_WEEK_MS })
    planFinale({ play, stock, until, stage })
    await play.agenda.run(until, past.goTo)
    await past.goTo(until)
    return new Map(Object.values(opened.cast).map(({ name, address, key }) => [name, { address, key }]))
  } finally {
    await sink.close()
  }
}

type SeedContext = {
  readonly places: Pick<Places, 'config'>
  readonly system: Pick<System, 'daemon' | 'now'>
  readonly onDay?: (day: number, of: number) => void
}

/** A demo user for `--as`. */
export type DemoPerson = { readonly wallet: string; readonly name: string; readonly type: string }
export const demoPeople: readonly DemoPerson[] = roleNames.map((wallet) => {
  const { name, type } = roles[wallet]
  return { wallet, name, type }
})

/**
 * Creates the demo history in a data folder, up to now, and the demo users' wallets and keys on this machine. An
 * existing history stays.
 * @throws StoreLocked while a daemon uses the folder
 */
export async function seedDemo({ places, system, onDay }: SeedContext, dataDir: string): Promise<HistoryOutcome> {
  const until = system.now()
  let keys: Keys = new Map()
  const { writeHistory } = await system.daemon()
  const outcome = await writeHistory({
    dataDir,
    name: 'demo',
    from: until - DEMO_MS,
    until,
    act: async (past) => {
      keys = await liveDemo(onDay === undefined ? past : counting(past, until, onDay), until)
    },
  })
  if (outcome !== 'written') return outcome
  for (const name of keys.keys()) await keepWallet(places, name, new Date(until).toISOString())
  for (const { address, key } of keys.values()) keepApiKey(places, dataDir, { wallet: address, key })
  return outcome
}

/** Wraps `past`, so that `goTo` reports each new day of the history. */
function counting(past: PastMarket, until: number, onDay: (day: number, of: number) => void): PastMarket {
  const days = Math.round(DEMO_MS / DAY_MS)
  let told = 0
  return {
    ...past,
    async goTo(at) {
      const day = Math.min(days, days - Math.floor((until - at) / DAY_MS))
      if (day > told) onDay(day, days)
      told = Math.max(told, day)
      await past.goTo(at)
    },
  }
}

/** Creates a demo wallet. If the user has another wallet of that name, the demo wallet gets a prefix. */
export async function keepWallet(places: SeedContext['places'], name: string, createdAt: string): Promise<void> {
  const names = walletNames(places)
  const isOwn = names.includes(name) && !getWallet(places, name).well_known
  const kept = isOwn ? OF_DEMO + name : name
  if (names.includes(kept)) return
  await createWallet(places, { name: kept, createdAt, privateKey: demoKey(name), active: false, wellKnown: true })
}

/** A URL that refuses connections, since port 9 (discard) is unused. */
export const CLOSED_HOOK = 'http://127.0.0.1:9/hook'
/** Delays after an event. The clock stops after each delay, when the next delivery attempt is due. */
const TRIES_OVER_MS = [
  2 * SECOND_MS,
  10 * SECOND_MS,
  MINUTE_MS,
  8 * MINUTE_MS,
  50 * MINUTE_MS,
  4 * HOUR_MS,
  12 * HOUR_MS,
]
const DOWN_MS = 20 * HOUR_MS

type Scene = { readonly play: Play; readonly stock: Stock; readonly until: number; readonly stage: Stage }

/** Schedules an example of every state that can last, such as an open dispute. */
export function planFinale(scene: Scene): void {
  planSubscriptions(scene)
  planDisputes(scene)
  planOpenJobs(scene)
  planDeadEndpoint(scene)
  planTalks(scene)
  planRequests(scene)
  planPeople(scene)
}

/** Schedules subscriptions to two plans by three buyers. One buyer cannot pay the renewal. */
function planSubscriptions({ play, stock, until }: Scene): void {
  const { agenda, cast, shelf } = play
  let palettes = ''
  const subscribe = async (who: Person, plan: string, from: 'x402' | 'balance') =>
    (await who.pay('subscribe', { params: { id: plan } }, from)).id
  agenda.at(until - 75 * DAY_MS, async () => void (await subscribe(cast.quill, stock.plan, 'x402')))
  agenda.at(until - 62 * DAY_MS, async () => void (await subscribe(cast.acme, stock.plan, 'balance')))
  agenda.at(until - 50 * DAY_MS, async () => {
    const period = { billing_period: 'monthly' } as const
    const plan = { name: 'Palettes', price: '3.00', service_ids: [shelf.palette], ...period }
    palettes = (await cast.pixelforge.call('createPlan', { body: plan })).id
  })
  agenda.at(until - 32 * DAY_MS, async () => void (await subscribe(cast.quill, palettes, 'x402')))
  agenda.at(until - 20 * DAY_MS, async () => {
    const id = await subscribe(cast.bot7, stock.plan, 'balance')
    agenda.at(until - 6 * DAY_MS, async () => {
      await cast.bot7.call('cancelSubscription', { params: { id }, body: { at_period_end: true } })
    })
  })
  agenda.at(until - 18 * DAY_MS, async () => {
    const id = await subscribe(cast.acme, palettes, 'balance')
    agenda.at(until - 5 * DAY_MS, async () => void (await cast.acme.call('pauseSubscription', { params: { id } })))
  })
  agenda.at(until - 17 * DAY_MS, async () => {
    const id = await subscribe(cast.bot7, palettes, 'balance')
    agenda.at(until - 12 * DAY_MS, async () => {
      await cast.bot7.call('cancelSubscription', { params: { id }, body: { at_period_end: false } })
    })
  })
}

/** Schedules three disputes: one refunded, one split, and one open with evidence. */
function planDisputes({ play, until }: Scene): void {
  const { agenda, operator } = play
  const rule = (job: string, body: { outcome: 'refund' | 'split'; buyer_amount?: string }, reason: string) =>
    operator.call('resolveJob', { params: { id: job }, body: { ...body, reason } })
  agenda.at(until - 19 * DAY_MS, async () => {
    const job = await dispute(play, { who: 'quill', ware: 'audit' }, 'The report is about another site.')
    agenda.at(until - 17 * DAY_MS, async () => void (await rule(job, { outcome: 'refund' }, 'It is another site.')))
  })
  agenda.at(until - 11 * DAY_MS, async () => {
    const job = await dispute(play, { who: 'acme', ware: 'copy' }, 'Half of the page is missing.')
    const half = { outcome: 'split', buyer_amount: '6.00' } as const
    agenda.at(until - 9 * DAY_MS, async () => void (await rule(job, half, 'Half was delivered.')))
  })
  agenda.at(until - 30 * HOUR_MS, async () => {
    await dispute(play, { who: 'bot7', ware: 'audit', from: 'balance' }, 'Half of the pages are missing.')
  })
}

/** Buys a listing, delivers the job, and disputes it with a picture as evidence. @returns id of the job */
async function dispute(play: Play, sale: DemoSale, reason: string): Promise<string> {
  const buyer = play.cast[sale.who]
  const order = await buy(play, sale)
  await report(play, order, { status: 'in_progress' })
  await hand(play, order)
  const { thread_id: thread } = await buyer.call('getJob', { params: { id: order.job } })
  const evidence = [await attach(play, buyer, { thread: thread ?? '', name: 'what-is-missing.svg' })]
  await buyer.pay('disputeJob', { params: { id: order.job }, body: { reason, category: 'quality', evidence } })
  await say(play.cast.inkwell, order.job, 'We delivered what the page had on that day.')
  return order.job
}

function planOpenJobs({ play, until }: Scene): void {
  const { agenda, cast } = play
  agenda.at(until - 72 * HOUR_MS, async () => void (await buy(play, { who: 'quill', ware: 'french' })))
  agenda.at(until - 50 * HOUR_MS, async () => {
    const order = await buy(play, { who: 'bot7', ware: 'audit', from: 'balance' })
    await report(play, order, { status: 'failed', notes: 'The page is gone.' })
  })
  agenda.at(until - 49 * HOUR_MS, async () => {
    const { job } = await buy(play, { who: 'acme', ware: 'copy' })
    const { thread_id: thread } = await cast.acme.call('getJob', { params: { id: job } })
    await cast.acme.call('declineThread', { params: { id: thread ?? '' }, body: { reason: 'Ordered twice.' } })
  })
  agenda.at(until - 25 * HOUR_MS, async () => {
    await report(play, await buy(play, { who: 'acme', ware: 'copy' }), { status: 'in_progress', progress: 0.6 })
  })
  agenda.at(until - 7 * HOUR_MS, async () => {
    const order = await buy(play, { who: 'acme', ware: 'audit' })
    await report(play, order, { status: 'in_progress' })
    agenda.at(until - 3 * HOUR_MS, () => hand(play, order))
  })
  agenda.at(until - 6 * HOUR_MS, async () => void (await buy(play, { who: 'bot7', ware: 'french', from: 'balance' })))
  agenda.at(until - 40 * MINUTE_MS, async () => void (await buy(play, { who: 'quill', ware: 'palette' })))
}

/** Schedules a buyer's dead endpoint, and a listing whose endpoint has just failed. */
function planDeadEndpoint({ play, until }: Scene): void {
  const { agenda, cast, shelf } = play
  const down = until - DOWN_MS
  agenda.at(down, async () => {
    await hookOf(cast.quill, CLOSED_HOOK)
    const order = await buy(play, { who: 'quill', ware: 'audit' })
    await report(play, order, { status: 'in_progress' })
    agenda.at(until - 2 * HOUR_MS, () => hand(play, order))
  })
  for (const after of TRIES_OVER_MS) agenda.at(down + after, async () => undefined)
  agenda.at(until - 3 * HOUR_MS, () => hookOf(cast.quill, null))
  const gone = until - 70 * MINUTE_MS
  agenda.at(gone, async () => {
    await cast.lingua.call('updateService', { params: { id: shelf.legal }, body: { webhook_url: CLOSED_HOOK } })
    await buy(play, { who: 'acme', ware: 'legal' })
  })
  for (const after of TRIES_OVER_MS.slice(0, 4)) agenda.at(gone + after, async () => undefined)
}

async function hookOf(who: Person, url: string | null): Promise<void> {
  await who.call('updateParticipant', { params: { id: who.id }, body: { webhook_url: url } })
}

function planTalks({ play, until }: Scene): void {
  const { agenda } = play
  agenda.at(until - 6 * DAY_MS, () => negotiate(play, 'quill', 'declined'))
  agenda.at(until - 28 * HOUR_MS, () => negotiate(play, 'acme', 'offered'))
  agenda.at(until - 2 * HOUR_MS, () => negotiate(play, 'bot7', 'asked'))
  // The price was agreed ten hours ago, and the work is in progress.
  agenda.at(until - 34 * HOUR_MS, () => negotiate(play, 'quill', 'done'))
}

function planRequests({ play, until }: Scene): void {
  const { agenda, cast } = play
  agenda.at(until - 9 * DAY_MS, async () => {
    const id = await postRequest(play, 'acme', 'Names for a harbour fair')
    await cast.acme.call('cancelPosting', { params: { id } })
  })
  agenda.at(until - 45 * DAY_MS, async () => {
    const body = { title: 'Subtitles for a film', brief: { text: 'Ten minutes.' }, budget_max_usd: 15 }
    const deadline = new Date(until - 40 * DAY_MS).toISOString()
    await cast.bot7.call('createPosting', { body: { ...body, deadline } })
  })
  agenda.at(until - 31 * HOUR_MS, async () => {
    const id = await postRequest(play, 'bot7', 'Captions for 40 pictures')
    const bid = await bidOn(play, id, { by: 'inkwell', price: '7.00' })
    await cast.bot7.pay('awardPosting', { params: { id }, body: { bid_id: bid } })
  })
  agenda.at(until - 5 * HOUR_MS, async () => {
    const id = await postRequest(play, 'acme', 'Translate a manual')
    await bidOn(play, id, { by: 'inkwell', price: '15.00' })
    const bid = await bidOn(play, id, { by: 'pixelforge', price: '18.50' })
    await cast.pixelforge.call('withdrawBid', { params: { id, bidId: bid } })
  })
  agenda.at(until - HOUR_MS, async () => {
    const id = await postRequest(play, 'quill', 'A mascot for our shop')
    await bidOn(play, id, { by: 'pixelforge', price: '19.00' })
  })
}

/** Schedules identity checks, referral money, a sanctioned wallet, and a provider that polls. */
function planPeople({ play, until, stage }: Scene): void {
  const { agenda, cast, operator } = play
  agenda.at(until - 80 * DAY_MS, async () => {
    const id = await consented(cast.lingua, 'Lena Lindt')
    const decision = { decision: 'approved', reason: 'Passport and register agree.' } as const
    await operator.call('decideVerification', { params: { id }, body: decision })
  })
  agenda.at(until - 4 * HOUR_MS, async () => void (await consented(cast.inkwell, 'Ines Keller')))
  agenda.at(until - 3 * HOUR_MS, async () => void (await cast.pixelforge.call('startVerification', {})))
  agenda.at(until - 3 * DAY_MS, async () => {
    const { payable } = await cast.acme.call('getReferralEarnings', { query: {} })
    const { minimum_withdrawal: least } = await cast.acme.call('getReferralProgram', {})
    if ((parseAmount(payable) ?? 0n) < (parseAmount(least) ?? 0n)) return
    await cast.acme.call('withdrawReferrals', { body: { to: 'balance' } })
  })
  agenda.at(until - 13 * DAY_MS, async () => {
    const { address: wallet } = await personAt(stage, 'shade')
    await operator.call('addSanction', { body: { wallet, reason: 'Named in a letter of our bank.' } })
  })
  agenda.at(until - 90 * MINUTE_MS, () => hookOf(cast.lingua, null))
}
