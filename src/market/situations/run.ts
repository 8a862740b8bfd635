import { readEvent } from '../../client/call.ts'
import type { TransportResponse } from '../../client/transport.ts'
import { type EventType, eventTypes } from '../../model/event-types.ts'
import { type AttentionKind, attentionKinds } from '../../model/words.ts'
import { attentionMeans } from '../../nouns/attention.ts'
import { createAgenda, diceOf } from '../agenda.ts'
import type { Opened } from '../cast.ts'
import { openSink, type Sink, type Stage } from '../hand.ts'
import { attentionSituations } from './attention.ts'
import { marketSituations } from './market.ts'
import { peopleSituations } from './people.ts'
import { found, type Makeable, type Scene, type Situation } from './scene.ts'
import type { EventSettings } from './settings.ts'
import { workSituations } from './work.ts'

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
