import { readEvent } from '../../client/call.ts'
import type { Link, LinkClock, Outcome } from '../../client/link.ts'
import { shortAddress } from '../../text/text.ts'
import { createStore, type StateStore } from './query.ts'
import { text, time } from './read.ts'

const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 10_000
/** A stream without data for this long counts as dead. Heartbeats come every ten seconds. */
const SILENCE_MAX_MS = 30_000
const EVENTS_KEPT = 1_000
/** A new event is compared with this many recent ones, to find duplicates. */
const EVENTS_COMPARED = 20
/** Longer messages are dropped. */
const MESSAGE_CHARS_MAX = 1_000_000

export type LiveEvent = {
  readonly cursor: number
  readonly at: number | undefined
  /** Id of the transaction that emitted the event. Undefined if unknown. */
  readonly tx: number | undefined
  readonly type: string
  readonly subject: string
  /** Members of the event's data, as `name value`. */
  readonly detail: string
  /** The first members of the event's data, as text. */
  readonly said: Readonly<Record<string, string>>
  readonly about: EventNames
  /** Number of messages that this row stands for. */
  readonly times?: number
}

/** Names in an event, empty if unknown. `amount` is like `$0.525`. */
export type EventNames = Readonly<Record<'service' | 'buyer' | 'provider' | 'amount' | 'method', string>>

function isSame(one: LiveEvent, other: LiveEvent): boolean {
  const isTogether = one.tx === undefined || other.tx === undefined ? one.at === other.at : one.tx === other.tx
  return isTogether && kindOf(one) === kindOf(other) && one.subject === other.subject
}
/** An adjustment is logged for its participant and for the operator. */
const kindOf = ({ type }: LiveEvent) => (type === 'balance.adjust' ? 'admin.balance_adjusted' : type)

/** Adds an event. A message replaces the row of earlier messages between the same parties about the same service. */
function withEvent(events: readonly LiveEvent[], event: LiveEvent): readonly LiveEvent[] {
  const key = (one: LiveEvent) => `${one.type} ${Object.values(one.about).join(' ')}`
  const isTalk = event.type === 'message.created' && event.about.service !== ''
  const before = isTalk ? events.find((one) => key(one) === key(event)) : undefined
  const times = before === undefined ? {} : { times: (before.times ?? 1) + 1 }
  const others = before === undefined ? events.slice(0, EVENTS_KEPT - 1) : events.filter((one) => one !== before)
  return [{ ...event, ...times }, ...others]
}

/** `live`: connected. `waiting`: reconnecting. `denied`: no admin key. */
export type StreamState = 'live' | 'waiting' | 'denied'
export type Stream = { readonly state: StreamState; readonly events: readonly LiveEvent[] }

export type StreamOptions = {
  readonly link: Link
  readonly clock: LinkClock
  /** Called for every event. */
  readonly onEvent: (event: LiveEvent) => void
}

export type EventStream = Pick<StateStore<Stream>, 'get' | 'subscribe'> & {
  readonly start: () => void
  readonly stop: () => void
  /** Starts the stream again without its last cursor, because another instance does not know that cursor. */
  readonly reset: () => void
}

/** Follows the event log. Reconnects by itself and continues after the last event. */
export function createStream({ link, clock, onEvent }: StreamOptions): EventStream {
  const store = createStore<Stream>({ state: 'waiting', events: [] })
  let running: AbortController | undefined
  let cursor: number | undefined
  let retryMs = RETRY_FIRST_MS
  let takeBack: (() => void) | undefined

  const state = (next: StreamState) => {
    if (next === 'live') retryMs = RETRY_FIRST_MS
    if (store.get().state !== next) store.set({ ...store.get(), state: next })
  }

  function take(event: LiveEvent): void {
    cursor = event.cursor
    const { events } = store.get()
    // Each party gets its own event about the same action. Only the first of them is shown.
    const isTold = events.slice(0, EVENTS_COMPARED).some((one) => isSame(one, event))
    if (isTold) store.set({ state: 'live', events })
    else store.set({ state: 'live', events: withEvent(events, event) })
    onEvent(event)
  }

  function open(): void {
    const mine = new AbortController()
    running = mine
    void link
      .events(cursor, mine.signal)
      .then((answer) => follow(answer, { clock, mine, isWanted: () => running === mine, state, take }))
      .catch((error: unknown) => void error) // the connection broke: it is opened again below
      .finally(() => {
        if (running === mine) retry()
      })
  }

  function retry(): void {
    if (store.get().state === 'live') state('waiting')
    takeBack = clock.later(retryMs, open)
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS)
  }

  function stop(): void {
    takeBack?.()
    running?.abort()
    running = undefined
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    start: open,
    stop,
    reset() {
      stop()
      cursor = undefined
      retryMs = RETRY_FIRST_MS
      store.set({ state: 'waiting', events: [] })
      open()
    },
  }
}

type Connection = {
  readonly clock: LinkClock
  readonly mine: AbortController
  /** False once the connection was replaced or stopped. */
  readonly isWanted: () => boolean
  readonly state: (next: StreamState) => void
  readonly take: (event: LiveEvent) => void
}

/** Reads one connection until it ends or is cancelled. */
async function follow(answer: Outcome<AsyncIterable<string>>, connection: Connection): Promise<void> {
  const { clock, mine, isWanted, state, take } = connection
  if (!isWanted()) return
  if (!answer.ok) return state(answer.problem.kind === 'denied' ? 'denied' : 'waiting')
  state('live')
  const silence = watchdog(clock, () => mine.abort())
  for await (const event of eventsIn(answer.value, silence)) {
    if (!isWanted()) return
    take(event)
  }
}

type Watchdog = { readonly heard: () => void; readonly end: () => void }

function watchdog(clock: LinkClock, onSilence: () => void): Watchdog {
  let takeBack = clock.later(SILENCE_MAX_MS, onSilence)
  return {
    heard() {
      takeBack()
      takeBack = clock.later(SILENCE_MAX_MS, onSilence)
    },
    end: () => takeBack(),
  }
}

async function* eventsIn(chunks: AsyncIterable<string>, silence: Watchdog): AsyncGenerator<LiveEvent> {
  const read = createReader()
  try {
    for await (const chunk of chunks) {
      silence.heard()
      for (const message of read(chunk)) {
        const event = await eventOf(message)
        if (event) yield event
      }
    }
  } finally {
    silence.end()
  }
}

/** Splits the text of an event stream into the data of its messages. */
export function createReader(): (chunk: string) => string[] {
  let rest = ''
  return (chunk) => {
    const blocks = (rest + chunk).replaceAll('\r\n', '\n').split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > MESSAGE_CHARS_MAX) rest = ''
    return blocks.flatMap((block) => {
      const data = block.split('\n').flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? [])
      return data.length === 0 ? [] : [data.join('\n')]
    })
  }
}

const DETAILS_SHOWN = 6
const WALLET = /^0x[0-9a-fA-F]{40}$/

/** A name as shown. Wallets are shortened. */
function nameOf(name: string | null | undefined): string {
  const shown = text(name)
  return WALLET.test(shown) ? shortAddress(shown) : shown
}

/** Parses an event. Undefined if it is invalid. */
export async function eventOf(message: string): Promise<LiveEvent | undefined> {
  const event = await readEvent('streamEvents', message)
  if (event === undefined) return undefined
  const { cursor, at, tx, type, subject, data, about } = event
  const said = Object.entries(data)
    .filter(([, value]) => typeof value !== 'object')
    .slice(0, DETAILS_SHOWN)
    .map(([name, value]) => [text(name), text(String(value))] as const)
  return {
    cursor,
    at: time(at),
    tx,
    type: text(type),
    subject: text(subject.id),
    detail: said.map(([name, value]) => `${name} ${value}`).join('  '),
    said: Object.fromEntries(said),
    about: {
      service: text(about?.service),
      buyer: nameOf(about?.buyer),
      provider: nameOf(about?.provider),
      amount: about?.amount ? `$${about.amount}` : '',
      method: text(about?.method),
    },
  }
}
