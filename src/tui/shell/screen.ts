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

/** A word that may come next on a line. */
export type LineWord = { readonly value: string; readonly summary: string }

/** The command line, as far as the cockpit uses it: its own names, its own completion, its own processes. */
export type CommandLine = {
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  /** Words as a shell would part them; undefined while a quote is open. */
  readonly split: (line: string) => readonly string[] | undefined
  /** @param words the last one is being typed, and may be empty */
  readonly complete: (words: readonly string[]) => Promise<readonly LineWord[]>
  /** Runs it in a process of its own. @returns what it said last */
  readonly run: (words: readonly string[]) => Promise<Outcome<string>>
}

export const WIDE_COLUMNS = 100
export const NARROW_COLUMNS = 70

/** The part of the terminal that a screen draws on. */
export type ScreenArea = { readonly width: number; readonly height: number }

/** What a screen is at the moment: the router acts on it, the frame draws it. */
export type Face = {
  /** Whose face it is: after a step to another screen, until that one is drawn, still the old one's. */
  readonly screen: ScreenId
  /** Rows that the cursor walks over, in the order shown. */
  readonly ids: readonly string[]
  /** At most `height` rows; the frame fills what is missing. */
  readonly draw: (area: ScreenArea) => readonly Line[]
  readonly actions: Readonly<Partial<Record<Action, () => void>>>
  /** The window is too small for the screen: what is open is not in sight, and no key acts on it. */
  readonly isCard?: true
  /** Titles of the columns that may be put away; undefined where there is no list. */
  readonly columns?: readonly string[] | undefined
  /** What is wrong with what is typed behind `/`. */
  readonly problem?: string | undefined
}

/** What screens and router share. */
export type Host = {
  readonly link: Link
  readonly clock: LinkClock
  readonly ui: StateStore<Ui>
  readonly queries: Queries
  readonly stream: EventStream
  readonly refreshMs: number
  readonly readonly: boolean
  /** What each key does. */
  readonly keys: readonly Binding[]
  /** What of the inbox is not to be seen for a while. */
  readonly putOffs: StateStore<readonly PutOff[]>
  /** Hands text to the terminal's clipboard. */
  readonly copy: (text: string) => void
  /** Keeps a copy of the instance's store under a name, in place of the one before; undefined where it is not local. */
  readonly snapshot: ((name: string) => Promise<Outcome<string>>) | undefined
  /** What the daemon of this machine wrote last, and when; undefined where it is not local. */
  readonly lastWords: (() => Promise<string>) | undefined
  /** The command line; undefined where there is none to ask. */
  readonly commandLine: CommandLine | undefined
  /** Other marketplaces, and the way there; undefined where this one was named by its address. */
  readonly elsewhere: { readonly names: () => readonly string[]; readonly go: (name: string) => void } | undefined
  /** The face of the screen in sight; replaced with every draw. */
  readonly face: { current: Face }
  /** The latest health report that came. */
  readonly health: () => HealthFacts | undefined
  /** Undefined until it is known. */
  readonly whereabouts: () => Whereabouts | undefined
  /** Why the platform is paused, where that is known. */
  readonly pauseReason: () => string
}

/** What every screen is given. */
export type View = {
  readonly health: Query<HealthFacts>
  readonly where: Whereabouts | undefined
  readonly ui: Ui
  /** What the screen has to draw on. */
  readonly area: ScreenArea
  /** Epoch milliseconds, a second apart. */
  readonly now: number
  /** What each key does. */
  readonly keys: readonly Binding[]
  /** What waits for the operator, without what is put off. */
  readonly needs: Query<Needs>
  /** Whether events come by themselves. */
  readonly isPushed: boolean
}

/** The whole terminal. */
export type Size = { readonly columns: number; readonly rows: number }

/** What the frame around the screens is given besides. */
export type FrameView = View & {
  readonly place: Place
  readonly clock: Query<BusinessClock>
  readonly refreshMs: number
  readonly readonly: boolean
}

export type Tab = {
  readonly id: ScreenId
  /** The number that leads there; undefined where the palette does. */
  readonly digit?: string
  readonly title: string
  /** Title where there is little room. */
  readonly short: string
  /** Which of its parts is in sight, where each is a hook of its own. */
  readonly part?: (ui: Ui) => string
}

export type Screen = Tab & {
  /** A hook: fetches what the screen shows. */
  readonly use: (host: Host, view: View) => Omit<Face, 'screen'>
}
