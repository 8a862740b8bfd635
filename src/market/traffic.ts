import type { CommandContext } from '../cli/command.ts'
import { CliError, usage } from '../cli/exit.ts'
import type { Io } from '../cli/io.ts'
import { codec, parseDuration } from '../cli/params.ts'
import { TransportError } from '../client/transport.ts'
import { AppError } from '../core/error.ts'
import { MINUTE_MS } from '../core/time.ts'
import { dim, red } from '../text/text.ts'
import { buyers, buyOfHouse, deal, negotiate, type Play, requestWork } from './acts.ts'
import { type Agenda, createAgenda, type Dice, diceOf } from './agenda.ts'
import { type Opened, topUp, type Ware } from './cast.ts'
import { castAt, withFolder } from './stage.ts'

/** Delays of scheduled steps are divided by this, so that hours pass in minutes. */
const SPEED = 60
/** Traffic stops after this many failures in a row. */
const MAX_FAILED = 20
/** Sales between top-ups. */
const SALES_PER_TOP_UP = 30
/** `legal` is left out, because its endpoint is gone. */
const wares = ['french', 'palette', 'french', 'audit', 'copy', 'palette'] as const satisfies readonly Ware[]
const methods = ['x402', 'balance'] as const

/** A reported action. */
export type TrafficItem = {
  readonly at: string
  readonly who: string
  readonly did: string
  /** Failure reason; null on success. */
  readonly error: string | null
}

export type Traffic = {
  readonly perMinute: number
  readonly now: () => number
  /** Returns early when aborted. */
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
  /** End time, epoch milliseconds. */
  readonly until: number
  readonly folder: string
}

/**
 * Makes purchases at a given rate and has sellers deliver, through the API only. Ends at `signal` or `until`.
 * @throws AppError `unavailable` after `MAX_FAILED` failures in a row; TransportError if the instance is unreachable
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
    if (failed >= MAX_FAILED) throw new AppError('unavailable', `${failed} actions in a row failed: ${item.error}`)
  }
}

/** Yields what is due next: a sale at the rate, or a scheduled step. */
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
    // Missed sales are not made up for.
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

function chosen(play: Play, who: (typeof buyers)[number]): { readonly did: string; readonly act: () => Promise<void> } {
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

function goOn(play: Play): Promise<TrafficItem> {
  const time = play.agenda.next()
  return told(play, { who: 'everybody', did: 'continued an order' }, () => play.agenda.run(time, async () => undefined))
}

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

/** Largest number of sales per minute in one process. */
const MAX_RATE = 600
const RATE = /^(\d{1,4})(?:\/min)?$/

/** Rate as `30/min` or `30`. */
export const Rate = codec(rateOf, `must be like 30/min, from 1 to ${MAX_RATE} a minute`)

function rateOf(text: string): number | undefined {
  const rate = Number(RATE.exec(text)?.[1] ?? 0)
  return rate > 0 && rate <= MAX_RATE ? rate : undefined
}

export function showTraffic({ at, who, did, error }: TrafficItem, io: Io): void {
  io.line(`${dim(at.slice(11, 19))} ${who.padEnd(10)} ${did}${error === null ? '' : `   ${red(error)}`}`)
}

/** Runs demo trade for a time, or until ctrl-c. @throws CliError usage for a bad `--for`; no_daemon if unreachable */
export async function* runTraffic(
  context: CommandContext<unknown, unknown>,
  wanted: { readonly rate: number; readonly for?: string | undefined },
): AsyncGenerator<TrafficItem> {
  const { io, system, signal } = context
  const forMs = wanted.for === undefined ? Number.POSITIVE_INFINITY : parseDuration(wanted.for)
  if (forMs === undefined) throw usage(`--for must be a duration such as 90s or 10m; you gave "${wanted.for}".`)
  const opened = await castAt(context, await context.session())
  const until = io.now() + forMs
  const sleep = (ms: number) => system.sleep(ms, signal)
  io.say(`● ${wanted.rate} sales a minute   ctrl-c stops it`)
  const how = { perMinute: wanted.rate, now: io.now, sleep, signal, until }
  try {
    yield* withFolder((folder) => traffic(opened, { ...how, folder }))
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    throw new CliError('no_daemon', 'The instance no longer responds.', { next: ['souk status'], cause: error })
  }
}
