import { readEvent } from '../../client/call.ts'
import type { TransportResponse } from '../../client/transport.ts'
import type { EventType } from '../../model/event-types.ts'
import { createAgenda, diceOf } from '../agenda.ts'
import type { Opened } from '../cast.ts'
import { openSink, type Sink, type Stage } from '../hand.ts'
import { marketSituations } from './market.ts'
import { peopleSituations } from './people.ts'
import type { Scene, Situation } from './scene.ts'
import type { EventSettings } from './settings.ts'
import { workSituations } from './work.ts'

const WAIT_MS = 30_000
const MAX_EVENT_CHARS = 256 * 1024

/** The caused event. */
export type Triggered = NonNullable<Awaited<ReturnType<typeof eventIn>>> & { readonly type: EventType }

export type Triggering = Opened & {
  readonly stage: Stage
  readonly type: EventType
  readonly folder: string
  readonly on?: string | undefined
  readonly told?: EventSettings
  /** All events from now on. */
  readonly events: (signal: AbortSignal) => Promise<TransportResponse>
}

/** Runs a situation and waits for its event. @throws Error when the event does not come */
export async function trigger(
  triggering: Triggering,
  { make }: Extract<Situation, { make: unknown }>,
): Promise<Triggered> {
  const { type, events, folder, on, told = {}, ...opened } = triggering
  const { stage, operator } = opened
  const over = new AbortController()
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
  try {
    const stream = await events(over.signal)
    const seen = firstOf(stream, type, on)
    seen.catch(() => undefined) // awaited below, after the situation has been made
    await make(scene)
    const timer = setTimeout(() => over.abort(), WAIT_MS)
    try {
      return await seen
    } finally {
      clearTimeout(timer)
    }
  } finally {
    over.abort()
    for (const sink of sinks) await sink.close()
  }
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

/** For each event type: how to cause it, or why it cannot be caused. */
export const situations: Readonly<Record<EventType, Situation>> = {
  ...peopleSituations,
  ...workSituations,
  ...marketSituations,
}
