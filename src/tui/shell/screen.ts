import type { Link, LinkClock, Outcome, Place, Whereabouts } from '../../client/link.ts'
import type { PutOff } from '../../model/cockpit-files.ts'
import type { ScreenId } from '../../model/words.ts'
import type { Line } from '../parts/line.ts'
import type { Action, Binding } from './bindings.ts'
import type { HealthFacts } from './health.ts'
import type { Needs } from './needs.ts'
import type { BusinessClock } from './queries.ts'
import type { Queries, Query, StateStore } from './query.ts'
import type { EventStream } from './stream.ts'
import type { Ui } from './ui.ts'

/** A completion. */
export type LineWord = { readonly value: string; readonly summary: string }

/** The command line for the cockpit: names, completion, processes. */
export type CommandLine = {
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  /** Shell words; undefined within a quote. */
  readonly split: (line: string) => readonly string[] | undefined
  /** @param words the last one is being typed */
  readonly complete: (words: readonly string[]) => Promise<readonly LineWord[]>
  /** Runs it in a process. @returns its output */
  readonly run: (words: readonly string[]) => Promise<Outcome<string>>
}

export const WIDE_COLUMNS = 100
export const NARROW_COLUMNS = 70

export type ScreenArea = { readonly width: number; readonly height: number }

/** Current state of a screen: the router acts on it, the frame draws it. */
export type Face = {
  /** Its screen; still the old one until the new one is drawn. */
  readonly screen: ScreenId
  /** Row ids in order. */
  readonly ids: readonly string[]
  /** At most `height` rows. */
  readonly draw: (area: ScreenArea) => readonly Line[]
  readonly actions: Readonly<Partial<Record<Action, () => void>>>
  /** The window is too small to draw the screen, so its keys are ignored. */
  readonly isCard?: true
  /** Hideable columns; undefined without a list. */
  readonly columns?: readonly string[] | undefined
  /** Fault of the typed filter. */
  readonly problem?: string | undefined
}

/** Shared state of screens and router. */
export type Host = {
  readonly link: Link
  readonly clock: LinkClock
  readonly ui: StateStore<Ui>
  readonly queries: Queries
  readonly stream: EventStream
  readonly refreshMs: number
  readonly readonly: boolean
  /** Key table. */
  readonly keys: readonly Binding[]
  /** Snoozed items. */
  readonly putOffs: StateStore<readonly PutOff[]>
  /** Copies text to the terminal's clipboard. */
  readonly copy: (text: string) => void
  /** Saves a snapshot of the local store; undefined for remotes. */
  readonly snapshot: ((name: string) => Promise<Outcome<string>>) | undefined
  /** Last log of the local daemon; undefined for remotes. */
  readonly lastWords: (() => Promise<string>) | undefined
  /** Command line; undefined if unavailable. */
  readonly commandLine: CommandLine | undefined
  /** Saves text to a new file. @returns its path; undefined if unavailable */
  readonly save?: ((name: string, text: string) => Outcome<string>) | undefined
  /** Other marketplaces; undefined if opened by address. */
  readonly elsewhere: { readonly names: () => readonly string[]; readonly go: (name: string) => void } | undefined
  /** Current face; replaced with every draw. */
  readonly face: { current: Face }
  /** Latest health report. */
  readonly health: () => HealthFacts | undefined
  /** Undefined until known. */
  readonly whereabouts: () => Whereabouts | undefined
  /** Pause reason, if known. */
  readonly pauseReason: () => string
}

/** Input of every screen. */
export type View = {
  readonly health: Query<HealthFacts>
  readonly where: Whereabouts | undefined
  readonly ui: Ui
  /** Area to draw on. */
  readonly area: ScreenArea
  /** Epoch milliseconds, every second. */
  readonly now: number
  /** Key table. */
  readonly keys: readonly Binding[]
  /** Problems without snoozed ones. */
  readonly needs: Query<Needs>
  /** Whether events are pushed. */
  readonly isPushed: boolean
}

/** Terminal size. */
export type Size = { readonly columns: number; readonly rows: number }

/** Further input of the frame. */
export type FrameView = View & {
  readonly place: Place
  readonly clock: Query<BusinessClock>
  readonly refreshMs: number
  readonly readonly: boolean
}

export type Tab = {
  readonly id: ScreenId
  /** Digit; undefined for palette-only screens. */
  readonly digit?: string
  readonly title: string
  /** Short title. */
  readonly short: string
  /** Part in sight, if each has its own hooks. */
  readonly part?: (ui: Ui) => string
}

export type Screen = Tab & {
  /** A hook: the screen's data. */
  readonly use: (host: Host, view: View) => Omit<Face, 'screen'>
}
