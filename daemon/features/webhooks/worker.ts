import type { z } from 'zod'
import { AppError } from '../../../src/core/error.ts'
import type { Entropy } from '../../../src/core/hex.ts'
import { jsonIn } from '../../../src/core/json.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import { checkJson, refuseCostly } from '../../endpoint/json.ts'
import { defineResource } from '../../kernel/context.ts'
import type { Clock, Ticker } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { type BlobStore, readText } from '../../store/blobs.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { Change, Draw, ReadTx, Store, Tx } from '../../store/port.ts'
import { end, endpointOf, recordTry, redirect } from './queue.ts'
import { type DeliveryRow, deliveries } from './rows.ts'
import { type Sender, type SentAttempt, sendOnce } from './send.ts'
import { secretsOf } from './signing.ts'

type Json = z.core.util.JSONType

const SCAN_ROWS = 500
/** Pause of an endpoint's queue after a local failure. */
const BROKEN_PAUSE_MS = 30 * SECOND_MS
/** How long the daemon waits for delivery attempts when it stops. */
const STOP_WAIT_MS = 3 * SECOND_MS

/** A delivered message: its row before the attempt is recorded, and the response. */
export type Taken = { readonly row: DeliveryRow; readonly status: number | null; readonly answer: Json | undefined }
type Follow = (t: Tx, draw: Draw, recorded: DeliveryRow) => Promise<void>

export type DeliveryHooks = {
  /** Whether a message is still useful; a useless message is not sent. */
  readonly isWanted: (t: ReadTx, row: DeliveryRow) => Promise<boolean>
  /**
   * Handles a delivered message. Reads the response, and returns the writes that follow from it. The transaction that
   * records the attempt runs them.
   * @throws AppError if the response is refused; the attempt then fails
   */
  readonly onTaken?: (taken: Taken) => Promise<Follow | undefined>
  /** Writes the effects of a delivery that succeeded or was given up, in the transaction that records this end. */
  readonly onEnded?: (t: Tx, draw: Draw, row: DeliveryRow) => Promise<void>
}

export type WorkerParts = Sender & {
  readonly store: Store
  readonly blobs: BlobStore
  readonly entropy: Entropy
  readonly log: Log
  readonly hooks: DeliveryHooks
}

export type DeliveryWorker = {
  /** Starts the worker. It first sends what was left unsent, then sends at each tick and for each new delivery. */
  readonly start: (ticker: Ticker) => Promise<void>
  /** Sends deliveries that are due, for example after the clock was moved. */
  readonly wake: () => void
  /** Resolves when nothing is due and nothing is in progress. */
  readonly idle: () => Promise<void>
  /** Starts no more attempts, and aborts those in progress after a limited time. */
  readonly stop: () => Promise<void>
}

export const deliveryWorker = defineResource<DeliveryWorker>('delivery-worker')

/**
 * Sends due deliveries. Each pair of endpoint and participant has a queue (lane), so that a slow or shared endpoint
 * delays no other. Only a lane's first delivery is read. After a crash, an unrecorded message is sent again.
 */
export function createDeliveries(parts: WorkerParts): DeliveryWorker {
  const { store, clock, log } = parts
  const lanes = createLanes(clock, { run, onEnded: pump })
  const { note, busy } = lanes
  const stopping = new AbortController()
  const unfollow: (() => void)[] = []
  let isStarted = false
  let isStopped = false
  let waiting: (() => void)[] = []

  function follow({ writes }: Change): void {
    const touched = writes.filter(({ collection }) => collection === deliveries.name)
    for (const { row } of touched) {
      const delivery = row as DeliveryRow | null // the collection's rows
      if (delivery?.open) note(laneOf(delivery), delivery.next_at ?? clock.now())
    }
    if (touched.length > 0) pump()
  }

  function pump(): void {
    if (!isStarted || isStopped) return
    lanes.beginDue(clock.now())
    if (busy.size > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  async function run(lane: Lane): Promise<void> {
    const next = await tryHead(parts, lane, stopping.signal).catch((error: unknown) => {
      if (!isStopped) logBroken(log, lane, error)
      return clock.now() + BROKEN_PAUSE_MS
    })
    if (next !== undefined) note(lane, next)
  }

  return {
    async start(ticker) {
      unfollow.push(store.subscribe(follow), ticker(pump))
      await scan(store, note)
      isStarted = true
      pump()
    },
    wake: pump,
    idle: async () => {
      await store.durable()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      pump()
      return promise
    },
    stop: async () => {
      isStopped = true
      for (const end of unfollow) end()
      const cut = setTimeout(() => stopping.abort(), STOP_WAIT_MS)
      await Promise.all(busy.values())
      clearTimeout(cut)
    },
  }
}

function logBroken(log: Log, { url }: Lane, error: unknown): void {
  const where = { source: 'webhook', host: URL.parse(url)?.host, err: String(error) }
  log.error(where, 'a delivery could not be tried')
}

/** Reports the lane and due time of each delivery that was left when the daemon stopped. */
async function scan(store: Store, note: (lane: Lane, at: number) => void): Promise<void> {
  for await (const rows of eachPage(store.table(deliveries), { index: 'due', prefix: [], limit: SCAN_ROWS })) {
    for (const row of rows) note(laneOf(row), row.next_at ?? 0)
  }
}

/** Sends a lane's first delivery if it is due. @returns the next due time; undefined if the lane is empty */
async function tryHead(parts: WorkerParts, lane: Lane, signal: AbortSignal): Promise<number | undefined> {
  const now = parts.clock.now()
  const head = await headOf(parts.store, lane, now)
  if (!head) return undefined
  const dueAt = head.next_at ?? 0
  if (dueAt > now) return dueAt
  await attempt(parts, head, signal)
  const next = await headOf(parts.store, lane, parts.clock.now())
  return next && (next.next_at ?? 0)
}

/** Next delivery of a lane: a paid one if it is due, otherwise the one that is due first. */
async function headOf(store: Store, { participant, url }: Lane, now: number): Promise<DeliveryRow | undefined> {
  const [paid, word] = await store
    .read((t) =>
      Promise.all([null, true].map((kind) => t.table(deliveries).page('lane', [participant, url, kind], { limit: 1 }))),
    )
    .then((pages) => pages.map(({ rows }) => rows[0]))
  if (!paid || !word) return paid ?? word
  const paidAt = paid.next_at ?? 0
  return paidAt <= now || paidAt <= (word.next_at ?? 0) ? paid : word
}

async function attempt(parts: WorkerParts, row: DeliveryRow, signal: AbortSignal): Promise<void> {
  const { store, clock, hooks } = parts
  const now = clock.now()
  const found = await store.read(async (t) => ({
    isWanted: await hooks.isWanted(t, row),
    endpoint: await endpointOf(t, { participantId: row.participant_id, serviceId: row.service_id }),
  }))
  if (!found.isWanted) {
    await giveUp(parts, row, { state: 'dropped', reason: 'the message is obsolete', now })
  } else if (!found.endpoint) {
    await giveUp(parts, row, { state: 'dead', reason: 'the endpoint was removed', now })
  } else if (found.endpoint.url !== row.url) {
    const { url } = found.endpoint
    await commit(parts, (t) => redirect(t, row.id, { url, now }))
  } else {
    const body = await bodyOf(parts, row)
    if (body === undefined) return giveUp(parts, row, { state: 'dead', reason: 'the message body is missing', now })
    const { owner } = found.endpoint
    const [secrets, headers] = [secretsOf(owner, clock.wall()), parts.ownHeaderOf?.(owner)]
    const sent = await sendOnce(parts, { url: row.url, eventId: row.event_id, body, secrets, headers, signal })
    await record(parts, row, sent)
  }
}

/** Body of a delivery. Undefined if its file is lost, so that the loss does not block the lane. */
async function bodyOf({ blobs, log }: WorkerParts, { id, body, body_file }: DeliveryRow): Promise<string | undefined> {
  if (body_file === undefined) return body
  if (await blobs.stat(body_file)) return readText(blobs, body_file)
  log.error({ source: 'webhook', delivery: id, file: body_file }, 'the file of a message is missing')
  return undefined
}

async function giveUp(parts: WorkerParts, { id }: DeliveryRow, how: Parameters<typeof end>[2]): Promise<void> {
  await commit(parts, async (t, draw) => {
    const ended = await end(t, id, how)
    if (ended) await parts.hooks.onEnded?.(t, draw, ended)
  })
}

async function record(parts: WorkerParts, row: DeliveryRow, sent: SentAttempt): Promise<void> {
  const { hooks, clock, log } = parts
  const tell = (written: DeliveryRow | undefined) =>
    log.info(
      { source: 'webhook', delivery: row.id, type: row.type, status: sent.status, state: written?.state },
      'delivery tried',
    )
  try {
    const { status } = sent
    const follow = sent.ok ? await hooks.onTaken?.({ row, status, answer: readAnswer(sent.answer) }) : undefined
    const now = clock.now()
    const written = await commit(parts, async (t, draw) => {
      const recorded = await recordWithEnd(t, draw, { sent, now })
      if (recorded) await follow?.(t, draw, recorded)
      return recorded
    })
    tell(written)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const refused = { ...sent, ok: false, error: `the response was rejected: ${error.message}` }
    const now = clock.now()
    tell(await commit(parts, (t, draw) => recordWithEnd(t, draw, { sent: refused, now })))
  }

  async function recordWithEnd(
    t: Tx,
    draw: Draw,
    tried: { sent: SentAttempt; now: number },
  ): Promise<DeliveryRow | undefined> {
    const recorded = await recordTry(t, draw, { id: row.id, ...tried })
    if (recorded && !recorded.open) await hooks.onEnded?.(t, draw, recorded)
    return recorded
  }
}

/** The JSON of a response; undefined if it is not JSON. @throws AppError on JSON nested too deep */
function readAnswer(body: Buffer): Json | undefined {
  refuseCostly(body)
  const answer = jsonIn(body.toString('utf8'))?.value as Json | undefined // what JSON.parse returns
  checkJson(answer)
  return answer
}

/** Maximum concurrent attempts. A participant has one attempt at a time per endpoint. */
export const MAX_CONCURRENT = 16
/** A participant whose last attempt took longer is slow. Slow participants share half of the slots. */
const SLOW_TRY_MS = SECOND_MS
export const MAX_SLOW_CONCURRENT = MAX_CONCURRENT / 2
/** Maximum slow participants remembered. The oldest is dropped first. */
const MAX_SLOW_KNOWN = 10_000

/** Slots for concurrent attempts. Some of them are reserved for fast participants. */
export function createSlots({ wall }: Pick<Clock, 'wall'>) {
  const slow = new Set<string>()
  let taken = 0
  let slowTaken = 0

  function noteSpeed(participant: string, tookMs: number): void {
    slow.delete(participant)
    if (tookMs < SLOW_TRY_MS) return
    slow.add(participant)
    const [first] = slow
    if (slow.size > MAX_SLOW_KNOWN && first !== undefined) slow.delete(first)
  }

  return {
    isFull: () => taken >= MAX_CONCURRENT,
    /** @returns the function to call when the attempt ends; undefined if no slot is free */
    enter(participant: string) {
      const isSlow = slow.has(participant)
      if (taken >= MAX_CONCURRENT || (isSlow && slowTaken >= MAX_SLOW_CONCURRENT)) return undefined
      taken += 1
      if (isSlow) slowTaken += 1
      const from = wall()
      return () => {
        taken -= 1
        if (isSlow) slowTaken -= 1
        noteSpeed(participant, wall() - from)
      }
    },
  }
}

/** Queue of one endpoint of one participant. */
type Lane = { readonly participant: string; readonly url: string }

function laneOf({ participant_id: participant, url }: DeliveryRow): Lane {
  return { participant, url }
}

/** Queues, ordered by due time. `run` must never throw. `onEnded` is called after each run. */
function createLanes(
  clock: Pick<Clock, 'wall'>,
  { run, onEnded }: { readonly run: (lane: Lane) => Promise<void>; readonly onEnded: () => void },
) {
  const waiting = new Map<string, Lane & { readonly at: number }>()
  const busy = new Map<string, Promise<void>>()
  const slots = createSlots(clock)

  function begin(key: string, lane: Lane): void {
    const leave = slots.enter(lane.participant)
    if (!leave) return
    waiting.delete(key)
    const ended = run(lane).then(() => {
      leave()
      busy.delete(key)
      onEnded()
    })
    busy.set(key, ended)
  }

  return {
    /** Records when a lane is due. If called again, the earliest time counts. */
    note({ participant, url }: Lane, at: number): void {
      const key = `${participant} ${url}`
      waiting.set(key, { participant, url, at: Math.min(at, waiting.get(key)?.at ?? at) })
    },
    /** Starts due lanes while there are free slots. */
    beginDue(now: number): void {
      for (const [key, lane] of waiting) {
        if (slots.isFull()) return
        if (lane.at <= now && !busy.has(key)) begin(key, lane)
      }
    },
    busy,
  }
}
