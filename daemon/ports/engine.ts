import { compact, keptIn } from '../../src/core/record.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'
import type { EngineStatus } from '../../src/model/words.ts'

/** State of an engine, as the operator sees it. */
export type EngineStanding = {
  readonly status: EngineStatus
  /** One sentence, without text from external sources. */
  readonly detail: string
  /** How to get the engine: a package, or a member of the engines file. */
  readonly fix?: string
}

/** An optional dependency of services: a program, a library, or an external API. */
export type Engine<Port> = {
  readonly port: Port
  /** State before the first check; engines without a check are `ok`. */
  readonly initial: EngineStanding
  /** Checks the engine, free of charge and without requests to other machines. Absent if `initial` never changes. */
  readonly probe?: () => Promise<EngineStanding>
  /** Asks the external API with a free request; absent for local engines. */
  readonly reach?: (signal: AbortSignal) => Promise<Reached>
  readonly close?: () => Promise<void>
}

/** Result of a request to an external API; `detail` contains no text from the API. */
export type Reached = { readonly ok: boolean; readonly detail: string }

/** Last known state of an engine; times are wall time. */
export type SeenEngine = EngineStanding & {
  readonly name: string
  /** Undefined before the first check. */
  readonly lookedAt?: number
  /** Whether the engine was available at some time since the daemon started. */
  readonly wasThere: boolean
  readonly reached?: Reached & { readonly at: number }
}

export class EngineGone extends Error {
  override readonly name = 'EngineGone'
}

export type EngineBoard<E extends object> = ReturnType<typeof openBoard<E>>

const PROBE_EVERY_MS = 10 * MINUTE_MS
/** Delay between a failure and the next check. */
const PROBE_AGAIN_MS = 30 * SECOND_MS
/** Time for which a successful check of an external API stays valid. */
const REACHED_KEPT_MS = HOUR_MS
const UNREACHED_KEPT_MS = MINUTE_MS
const REACH_TIMEOUT_MS = 10 * SECOND_MS

const NOT_LOOKED: EngineStanding = { status: 'failing', detail: 'The engine could not be checked.' }

/** Checks engines at the start, every ten minutes, and after failures. */
export function openBoard<E extends object>(engines: { readonly [N in keyof E]: Engine<E[N]> }, wall: () => number) {
  const list = Object.entries(engines) as [keyof E & string, Engine<unknown>][] // the mapped type's own members
  const standing = new Map(list.map(([name, { initial }]) => [name, initial]))
  const looked = new Map<string, number>()
  const seenOk = new Set(list.flatMap(([name, { initial }]) => (initial.status === 'ok' ? [name] : [])))
  const outside = openReaches(wall)
  const listeners: (() => void)[] = []
  const timers = new Map<string, NodeJS.Timeout>()
  let isClosed = false

  async function look(name: keyof E & string): Promise<void> {
    const probe = engines[name].probe
    if (!probe) looked.set(name, wall())
    if (!probe || isClosed) return
    const before = standing.get(name)?.status
    const found = await probe().catch(() => NOT_LOOKED)
    standing.set(name, found)
    if (found.status === 'ok') seenOk.add(name)
    looked.set(name, wall())
    later(name, PROBE_EVERY_MS)
    if (found.status !== before) for (const listener of listeners) listener()
  }

  function later(name: keyof E & string, ms: number): void {
    clearTimeout(timers.get(name))
    if (!isClosed) timers.set(name, setTimeout(() => void look(name), ms).unref())
  }

  return {
    ports: Object.fromEntries(list.map(([name, { port }]) => [name, port])) as E, // one port for each name
    /** The engines in `names` that are unavailable now. */
    lacking: (names: readonly (keyof E & string)[]): readonly string[] =>
      names.filter((name) => standing.get(name)?.status !== 'ok'),
    standings: (): readonly SeenEngine[] =>
      list.map(([name, { initial }]) => ({
        name,
        ...(standing.get(name) ?? initial),
        wasThere: seenOk.has(name),
        ...compact({ lookedAt: looked.get(name), reached: outside.last(name) }),
      })),
    /** Asks each external API if it responds, at most hourly, or every minute while it fails. Then checks all engines. */
    reach: async (): Promise<void> => {
      if (isClosed) return
      await Promise.all(list.map(([name, engine]) => outside.ask(name, engine)))
      await Promise.all(list.map(([name]) => look(name)))
    },
    /** Resolves when every engine has been checked once. */
    ready: Promise.all(list.map(([name]) => look(name))).then(() => undefined),
    /** Reports that engines failed, so that they are checked again soon. */
    suspect: (names: readonly (keyof E & string)[]): void => {
      for (const name of names) if (engines[name].probe) later(name, PROBE_AGAIN_MS)
    },
    onChange: (listener: () => void) => void listeners.push(listener),
    close: async (): Promise<void> => {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(list.map(([, { close }]) => close?.()))
    },
  }
}

/** Latest results of requests to external APIs. Concurrent callers share one request. */
function openReaches(wall: () => number) {
  const last = new Map<string, Reached & { readonly at: number }>()
  const asking = new Map<string, Promise<void>>()

  async function once(name: string, reach: NonNullable<Engine<unknown>['reach']>): Promise<void> {
    const unknown = { ok: false, detail: 'The API does not respond.' }
    const reached = await reach(AbortSignal.timeout(REACH_TIMEOUT_MS)).catch(() => unknown)
    last.set(name, { ...reached, at: wall() })
  }

  return {
    last: (name: string) => last.get(name),
    ask: async (name: string, { reach }: Engine<unknown>): Promise<void> => {
      const known = last.get(name)
      const keptMs = known?.ok ? REACHED_KEPT_MS : UNREACHED_KEPT_MS
      if (!reach || (known && wall() - known.at < keptMs)) return
      await keptIn(asking, name, () => once(name, reach).finally(() => asking.delete(name)))
    },
  }
}

/** An engine that is always available. @param reach asks the external API that it uses */
export function builtIn<Port>(port: Port, detail: string, reach?: Engine<Port>['reach']): Engine<Port> {
  return { port, initial: { status: 'ok', detail }, ...compact({ reach }) }
}
