import { AppError } from '../core/error.ts'
import { MINUTE_MS } from '../core/time.ts'
import { buyers, buyOfHouse, deal, negotiate, type Play } from './acts.ts'
import { type Agenda, createAgenda, type Dice, diceOf } from './agenda.ts'
import { type Opened, topUp, type Ware } from './cast.ts'
import { requestWork } from './weeks.ts'

/** What takes hours in the demo takes minutes here. */
const SPEED = 60
/** Acts in a row that may fail before there is no point in going on. */
const MAX_FAILED = 20
/** Sales between two top-ups of a wallet. */
const SALES_PER_TOP_UP = 30
/** Not the one whose endpoint is gone. */
const wares = ['french', 'palette', 'french', 'audit', 'copy', 'palette'] as const satisfies readonly Ware[]
const methods = ['x402', 'balance'] as const

/** One act of somebody, as it is told. */
export type TrafficItem = {
  readonly at: string
  readonly who: string
  readonly did: string
  /** Why it came to nothing; null: it was done. */
  readonly error: string | null
}

export type Traffic = {
  readonly perMinute: number
  readonly now: () => number
  /** Returns early when it is aborted. */
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
  /** When it ends by itself, epoch milliseconds. */
  readonly until: number
  readonly folder: string
}

/**
 * Has buyers buy at a rate and sellers do what was bought, until the signal or the end; every act is a request that
 * anybody could send.
 * @throws AppError the last refusal when nothing works any more; TransportError when nobody answers.
 */
export async function* traffic(opened: Opened, how: Traffic): AsyncGenerator<TrafficItem> {
  const { now } = how
  const agenda = createAgenda()
  const soon = (time: number, act: () => Promise<void>) => agenda.at(now() + (time - now()) / SPEED, act)
  const dice = diceOf(Math.floor(now()))
  const play: Play = { ...opened, dice, now, folder: how.folder, agenda: { ...agenda, at: soon } }
  let failed = 0
  let sales = 0
  for await (const turn of turns(how, agenda)) {
    if (turn === 'sale') sales += 1
    const item = turn === 'sale' ? await sell(play, sales) : await goOn(play)
    failed = item.error === null ? 0 : failed + 1
    if (turn === 'sale' || item.error !== null) yield item
    if (failed >= MAX_FAILED) throw new AppError('unavailable', `${failed} acts in a row were refused: ${item.error}`)
  }
}

/** Whose turn it is, each in its time: a sale at the rate, or the next step of what was begun. */
async function* turns(how: Traffic, agenda: Agenda): AsyncGenerator<'sale' | 'step'> {
  const { now, sleep, signal, until, perMinute } = how
  const everyMs = MINUTE_MS / perMinute
  for (let due = now(); ; ) {
    await sleep(Math.max(0, Math.min(due, agenda.next(), until) - now()))
    if (signal.aborted || now() >= until) return
    if (agenda.next() < due) {
      yield 'step'
      continue
    }
    // What the machine could not keep up with is not made up for.
    due = Math.max(due, now() - everyMs) + everyMs
    yield 'sale'
  }
}

async function sell(play: Play, count: number): Promise<TrafficItem> {
  const { dice, cast, operator } = play
  const who = dice.pick(buyers)
  if (count % SALES_PER_TOP_UP === 0) for (const name of buyers) await topUp(operator, cast[name])
  const { did, act } = chosen(play, who)
  return told(play, { who, did }, act)
}

type Act = { readonly did: string; readonly act: () => Promise<void> }

function chosen(play: Play, who: (typeof buyers)[number]): Act {
  const { dice, cast } = play
  const from = dice.pick(methods)
  const roll = dice.below(20)
  if (roll < 7) return { did: 'bought a QR code', act: () => buyOfHouse(play, cast[who], from) }
  if (roll < 17) return saleOf(play, { who, from }, dice)
  if (roll < 18) return { did: 'asked for a logo', act: () => negotiate(play, who, 'done') }
  if (roll < 19) return { did: 'posted a request', act: () => requestWork(play, who) }
  const act = async () => void (await cast[who].pay('deposit', { body: { amount: '5.00' } }))
  return { did: 'put $5.00 into the balance', act }
}

function saleOf(
  play: Play,
  by: { readonly who: (typeof buyers)[number]; readonly from: 'x402' | 'balance' },
  dice: Dice,
) {
  const ware = dice.pick(wares)
  return { did: `ordered: ${ware}`, act: () => deal(play, { ...by, ware }) }
}

/** The next step of what was begun. */
function goOn(play: Play): Promise<TrafficItem> {
  const time = play.agenda.next()
  return told(play, { who: 'everybody', did: 'went on with an order' }, () =>
    play.agenda.run(time, async () => undefined),
  )
}

/** A refusal is part of the day; that nobody answers ends it. */
async function told(
  { now }: Play,
  { who, did }: { readonly who: string; readonly did: string },
  act: () => Promise<void>,
): Promise<TrafficItem> {
  const at = new Date(now()).toISOString()
  try {
    await act()
    return { at, who, did, error: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { at, who, did, error: error.message }
  }
}
