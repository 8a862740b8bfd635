import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'

/** How an engine stands, as an operator is told. */
export type EngineStanding = {
  /** `missing`: install something; `unconfigured`: give it a key or an address; `failing`: it is there and does not work. */
  readonly status: 'ok' | 'missing' | 'unconfigured' | 'failing'
  /** One sentence; never a word of an upstream. */
  readonly detail: string
  /** What brings it: a package, or a member of the engines file. */
  readonly fix?: string
}

/** What some services work with and not every machine has: a program, a library, or somebody else's interface. */
export type Engine<Port> = {
  readonly port: Port
  /** How it stands before anybody looked; what needs no looking is `ok`. */
  readonly initial: EngineStanding
  /** Looks without making anything that costs, and without asking anybody outside. Absent where `initial` stays true. */
  readonly probe?: () => Promise<EngineStanding>
  readonly close?: () => Promise<void>
}

/** An engine is not there for the work that needs it. */
export class EngineGone extends Error {
  override readonly name = 'EngineGone'
}

export type EngineBoard<E extends object> = {
  readonly ports: E
  /** Those of the names that cannot be worked with now. */
  readonly lacking: (names: readonly (keyof E & string)[]) => readonly string[]
  readonly standings: () => readonly (EngineStanding & { readonly name: string })[]
  /** Resolves when each was looked at once. */
  readonly ready: Promise<void>
  /** Work with them failed: looks again soon. */
  readonly suspect: (names: readonly (keyof E & string)[]) => void
  /** Called when what is lacking may have changed. */
  readonly onChange: (listener: () => void) => void
  readonly close: () => Promise<void>
}

const PROBE_EVERY_MS = 10 * MINUTE_MS
/** After a failure, and not sooner after the last look. */
const PROBE_AGAIN_MS = 30 * SECOND_MS

/** Looks at every engine at once, every ten minutes, and after a failure. */
export function openBoard<E extends object>(engines: { readonly [N in keyof E]: Engine<E[N]> }): EngineBoard<E> {
  const list = Object.entries(engines) as [keyof E & string, Engine<unknown>][] // the mapped type's own members
  const standing = new Map(list.map(([name, { initial }]) => [name, initial]))
  const listeners: (() => void)[] = []
  const timers = new Map<string, NodeJS.Timeout>()
  let isClosed = false

  async function look(name: keyof E & string): Promise<void> {
    const probe = engines[name].probe
    if (!probe || isClosed) return
    const before = standing.get(name)?.status
    const found = await probe().catch(
      (): EngineStanding => ({ status: 'failing', detail: 'It could not be looked at.' }),
    )
    standing.set(name, found)
    later(name, PROBE_EVERY_MS)
    if (found.status !== before) for (const listener of listeners) listener()
  }

  function later(name: keyof E & string, ms: number): void {
    clearTimeout(timers.get(name))
    if (!isClosed) timers.set(name, setTimeout(() => void look(name), ms).unref())
  }

  const ports = Object.fromEntries(list.map(([name, { port }]) => [name, port])) as E // one port for each name
  return {
    ports,
    lacking: (names) => names.filter((name) => standing.get(name)?.status !== 'ok'),
    standings: () => list.map(([name, { initial }]) => ({ name, ...(standing.get(name) ?? initial) })),
    ready: Promise.all(list.map(([name]) => look(name))).then(() => undefined),
    suspect: (names) => {
      for (const name of names) if (engines[name].probe) later(name, PROBE_AGAIN_MS)
    },
    onChange: (listener) => listeners.push(listener),
    close: async () => {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(list.map(([, { close }]) => close?.()))
    },
  }
}

/** An engine that is part of this program. */
export function builtIn<Port>(port: Port, detail: string): Engine<Port> {
  return { port, initial: { status: 'ok', detail } }
}
