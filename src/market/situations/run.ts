import { randomBytes } from 'node:crypto'
import { CliError } from '../../cli/exit.ts'
import { readEvent } from '../../client/call.ts'
import type { TransportResponse } from '../../client/transport.ts'
import { DAY_MS, HOUR_MS, unixSeconds } from '../../core/time.ts'
import { type EventType, eventTypes } from '../../model/event-types.ts'
import { type AttentionKind, attentionKinds } from '../../model/words.ts'
import { attentionMeans } from '../../nouns/attention.ts'
import { createAgenda, diceOf } from '../agenda.ts'
import type { Opened } from '../cast.ts'
import { openSink, type Sink, type Stage, transportTo } from '../hand.ts'
import { marketSituations, unserved } from './market.ts'
import { earningsBlocked, GONE, peopleSituations, soldTo } from './people.ts'
import { found, type Makeable, made, type Scene, type Situation, visitor } from './scene.ts'
import type { EventSettings } from './settings.ts'
import { story, workSituations } from './work.ts'

const WAIT_MS = 30_000
const MAX_EVENT_CHARS = 256 * 1024

export type TriggerName = EventType | `attention.${AttentionKind}`

/** The caused event, or the problem for the operator. */
export type Triggered = {
  readonly id: string
  readonly type: TriggerName
  readonly subject: { readonly kind: string; readonly id: string }
}

export type Triggering = Opened & {
  readonly stage: Stage
  readonly type: TriggerName
  readonly folder: string
  readonly on?: string | undefined
  readonly told?: EventSettings
  /** All events from now on. */
  readonly events: (signal: AbortSignal) => Promise<TransportResponse>
}

/** Runs a situation and waits for its event or problem. @throws Error when that does not come */
export async function trigger(triggering: Triggering, situation: Makeable): Promise<Triggered> {
  const { type, events, folder, on, told = {}, ...opened } = triggering
  const { stage, operator } = opened
  const sinks: Sink[] = []
  const scene: Scene = {
    ...opened,
    on,
    told,
    play: { ...opened, agenda: createAgenda(), dice: diceOf(Math.floor(stage.wall())), now: stage.wall, folder },
    advance: async (ms) => void (await operator.call('moveClock', { body: { advance_ms: ms } })),
    async sink(status) {
      const sink = await openSink(status)
      sinks.push(sink)
      return sink
    },
  }
  const kind = attentionKinds.find((one) => type === `attention.${one}`)
  try {
    return await (kind === undefined
      ? eventOf(scene, { type: type as EventType, events, situation }) // no other names are left
      : problemOf(scene, { kind, situation }))
  } finally {
    for (const sink of sinks) await sink.close()
  }
}

type Waited = Pick<Triggering, 'events'> & { readonly type: EventType; readonly situation: Makeable }

async function eventOf(scene: Scene, { type, events, situation }: Waited): Promise<Triggered> {
  const over = new AbortController()
  try {
    const stream = await events(over.signal)
    const seen = firstOf(stream, type, scene.on)
    seen.catch(() => undefined) // awaited below, after the situation has been made
    await situation.make(scene)
    const timer = setTimeout(() => over.abort(), WAIT_MS)
    try {
      return await seen
    } finally {
      clearTimeout(timer)
    }
  } finally {
    over.abort()
  }
}

/** A problem that was not there before. Where there is at most one, or too many to list them all, any of the kind. */
async function problemOf(
  scene: Scene,
  { kind, situation }: { readonly kind: AttentionKind; readonly situation: Makeable },
): Promise<Triggered> {
  const look = () => scene.operator.call('getAttention', {})
  const before = await look()
  const known = new Set(before.items.map(({ id }) => id))
  await situation.make(scene)
  return found(`a problem of the kind ${kind}`, async () => {
    const { items, counts } = await look()
    const all = items.filter((one) => one.kind === kind)
    const isEnough = attentionSituations[kind].once || (counts[kind] ?? 0) > (before.counts[kind] ?? 0)
    const one = all.find(({ id }) => !known.has(id)) ?? (isEnough ? all.at(-1) : undefined)
    return one && { id: one.id, type: `attention.${kind}` as const, subject: one.subject }
  })
}

/** First event of this type in a stream; with `on`, only one about that id. @throws Error if the stream has none */
async function firstOf(stream: TransportResponse, type: EventType, on?: string): Promise<Triggered> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream.chunks()) {
    rest += decoder.decode(chunk, { stream: true })
    const messages = rest.split('\n\n')
    rest = (messages.pop() ?? '').slice(-MAX_EVENT_CHARS)
    for (const message of messages) {
      const found = await eventIn(message)
      if (found?.type === type && isAbout(found.subject, on)) return { ...found, type }
    }
  }
  throw new Error(`the stream ended before ${type}`)
}

/** Whether an event may be the awaited one: its object is `on`, or is of another kind than `on`. */
function isAbout({ id }: Triggered['subject'], on: string | undefined): boolean {
  const kind = (text: string) => text.slice(0, text.indexOf('_'))
  return on === undefined || kind(on) !== kind(id) || id === on
}

async function eventIn(message: string) {
  const data = message.split('\n').find((line) => line.startsWith('data:'))
  const event = data === undefined ? undefined : await readEvent('streamEvents', data.slice('data:'.length))
  return event && { ...event, subject: event.subject }
}

const eventSituations: Readonly<Record<EventType, Situation>> = {
  ...peopleSituations,
  ...workSituations,
  ...marketSituations,
}

export type Trigger = Situation & { readonly means: string }

/** All that can be triggered: how each event and each problem is caused, or why it cannot be. */
export const triggers = Object.fromEntries([
  ...Object.entries(eventTypes).map(([type, means]) => [type, { ...eventSituations[type as EventType], means }]),
  ...attentionKinds.map((kind) => [`attention.${kind}`, { ...attentionSituations[kind], means: attentionMeans[kind] }]),
]) as Readonly<Record<TriggerName, Trigger>> // one for each name

const BROKEN = 500
const NONCE_BYTES = 32
const PAYMENT_SECONDS = 60
/** A token that this marketplace does not settle, and a signature that it does not get to check. */
const [OTHER_TOKEN, SIGNATURE] = [`0x${'ab'.repeat(20)}`, `0x${'00'.repeat(65)}`]
/** So dear that an hour of it is worth some cents. */
const DEAR = '30.00'
const OLD_MS = 31 * DAY_MS

/** A shop that is set up for another token asks for the verification of its buyer's payment. */
async function wrongToken({ stage, cast }: Scene): Promise<void> {
  const entry = {
    ...{ scheme: 'exact', network: 'base', asset: OTHER_TOKEN, payTo: cast.inkwell.address },
    ...{ maxAmountRequired: '10000', maxTimeoutSeconds: PAYMENT_SECONDS, resource: 'https://shop.example/weather' },
  }
  const authorization = {
    ...{ from: cast.bot7.address, to: cast.inkwell.address, value: '10000', validAfter: '0' },
    validBefore: String(unixSeconds(stage.wall()) + PAYMENT_SECONDS),
    nonce: `0x${randomBytes(NONCE_BYTES).toString('hex')}`,
  }
  const payment = { scheme: 'exact', network: 'base', payload: { signature: SIGNATURE, authorization } }
  await cast.inkwell.call('verifyPayment', {
    body: { x402Version: 1, paymentPayload: payment, paymentRequirements: entry },
  })
}

/** Sells to an endpoint that is gone. The seller has another one as soon as the message is given up. */
async function deadDelivery(scene: Scene): Promise<void> {
  const { url } = await scene.sink()
  const seller = await soldTo(scene, GONE)
  await found('a dead delivery', async () => {
    const { deliveries } = await seller.call('listDeliveries', { query: { status: 'dead' } })
    return deliveries[0]
  })
  await seller.call('updateParticipant', { params: { id: seller.id }, body: { webhook_url: url } })
}

async function unservedHour(scene: Scene): Promise<void> {
  await unserved({ ...scene, told: { price: DEAR, ...scene.told } })
  await scene.advance(HOUR_MS)
}

/** Deposits more than the pay-to wallet should hold. */
async function tooMuch(scene: Scene): Promise<void> {
  const { hot_ceiling: ceiling } = await scene.operator.call('getAlarms', {})
  if (ceiling === null) {
    throw new CliError('conflict', 'There is no ceiling that a deposit could pass.', {
      next: ['souk down', 'souk up --hot-ceiling 10.00'],
    })
  }
  const who = await visitor(scene)
  await scene.operator.call('faucet', { body: { wallet: who.address, amount: ceiling } })
  await who.pay('deposit', { body: { amount: ceiling } })
  await who.pay('deposit', { body: { amount: '1.00' } })
}

async function oldBackup(scene: Scene): Promise<void> {
  const { adminKey } = scene.stage
  const headers = { authorization: `Bearer ${adminKey}` }
  const answer = await transportTo(scene.stage)({ method: 'GET', path: '/dashboard/api/admin/backup', headers })
  for await (const _ of answer.file());
  await scene.advance(OLD_MS)
}

/** Pauses a cron and forgets it. `act` happens then. */
const forgotten = (cron: string, moves: number, act?: Makeable): Situation =>
  made(
    async (scene) => {
      await scene.operator.call('pauseCron', { params: { name: cron } })
      await act?.make(scene)
      await scene.advance(moves)
    },
    { moves },
  )

const later = (first: Makeable, moves: number): Makeable => ({
  ...first,
  moves,
  async make(scene) {
    await first.make(scene)
    await scene.advance(moves)
  },
})

/** For each kind of problem: how to cause one, or why it is impossible. `once`: there is at most one. */
const attentionSituations: Readonly<Record<AttentionKind, Situation & { readonly once?: true }>> = {
  platform: {
    ...made(
      ({ operator, told }) =>
        operator.call('pausePlatform', { body: { reason: told.reason ?? 'The bank is closed.' } }),
      { sets: ['reason'] },
    ),
    once: true,
  },
  escrow: { ...made(({ operator }) => operator.call('pauseEscrow', { body: {} })), once: true },
  journal: { why: 'it needs a machine that loses power while it writes', next: 'souk doctor' },
  disk: { why: 'it needs a full disk', next: 'souk doctor --only disk' },
  chain: { ...made(wrongToken), once: true },
  reversed: {
    why: 'it needs a chain that reverts a settled payment, which the sandbox cannot do',
    next: 'souk up --instance chain --chain devnet',
  },
  hot_balance: { ...made(tooMuch), once: true },
  payout: made(earningsBlocked),
  dispute: workSituations['job.disputed'],
  overdue: { ...story(undefined, { ware: 'palette', moves: 2 * HOUR_MS }), about: [] },
  stuck: forgotten('escrow-monitor', 2 * DAY_MS + HOUR_MS, workSituations['job.completed']),
  unserved_period: made(unservedHour, { moves: HOUR_MS, sets: ['price'] }),
  past_due: marketSituations['subscription.past_due'],
  inquiry: later(workSituations['thread.inquiry'], DAY_MS + HOUR_MS),
  delivery: made(deadDelivery),
  endpoint: made((scene) => soldTo(scene, BROKEN)),
  cron: { ...forgotten('reputation', HOUR_MS), once: true },
  engine: { why: 'it depends on the programs of this machine', next: 'souk doctor --only engines' },
  sanctions_list: { ...forgotten('ofac-sdn-refresh', 2 * DAY_MS + HOUR_MS), once: true },
  alarm: { why: 'it needs a target that fails; a failed test shows the same', next: 'souk admin alarms test' },
  certificate: {
    why: 'it needs a certificate at its end, and the time of the machine cannot be moved',
    next: 'souk doctor --only upkeep',
  },
  backup: { ...made(oldBackup, { moves: OLD_MS }), once: true },
}
