import type { Link, LinkClock, ListingChanges, Outcome, Place, Whereabouts } from '../../client/link.ts'
import type { PutOff } from '../../model/cockpit-files.ts'
import type { ScreenId } from '../../nouns/screens.ts'
import type { Line } from '../parts/line.ts'
import type { Pointer } from '../parts/mouse.ts'
import type { Look } from '../parts/theme.ts'
import type { Action, Binding, HintWords } from './bindings.ts'
import type { HealthFacts } from './health.ts'
import type { Needs } from './needs.ts'
import type { BusinessClock } from './queries.ts'
import type { Fetch, Queries, Query, StateStore } from './query.ts'
import type { EventStream } from './stream.ts'
import type { Ui } from './ui.ts'

/** A completion. */
export type LineWord = { readonly value: string; readonly summary: string }

/** The parts of the command line that the cockpit uses. */
export type CommandLine = {
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  /** Splits a line into words as a shell does. Undefined while a quote is open. */
  readonly split: (line: string) => readonly string[] | undefined
  /** Completions of the last word. @param words - the last one is still being typed */
  readonly complete: (words: readonly string[]) => Promise<readonly LineWord[]>
  /** Runs a command in its own process. @returns its output */
  readonly run: (words: readonly string[]) => Promise<Outcome<string>>
}

/** How a program ended. */
export type ProgramEnd = {
  readonly text: string /** Why it failed or was ended. Empty if neither. */
  readonly problem: string
}

/** Runs programs of the user on this machine, one at a time. */
export type ProgramRunner = {
  readonly run: (program: {
    readonly words: readonly [string, ...string[]]
    readonly input: (signal: AbortSignal) => Promise<Outcome<string>>
  }) => Promise<ProgramEnd>
  readonly isBusy: () => boolean
  /** Ends the running program. @returns false if none runs, or if it is already being ended */
  readonly stop: () => boolean
}

/** What the user may change while the cockpit runs. */
export type OwnStyle = { readonly keys: readonly Binding[]; readonly look: Look; readonly faults: readonly string[] }

export const WIDE_COLUMNS = 100
export const NARROW_COLUMNS = 70

export type ScreenArea = { readonly width: number; readonly height: number }

export type ListedRow = {
  readonly id: string
  /** Values of all columns, not clipped. */
  readonly cells: readonly (string | number | boolean | null | undefined)[]
  /** The row as the API returns it. */
  readonly record: unknown
}

/** The list of a screen: its columns, and its rows on all pages. */
export type FaceList = {
  /** Titles of all columns. The first column cannot be hidden. */
  readonly titles: readonly string[]
  readonly rows: () => readonly ListedRow[]
  readonly pages: number
  readonly page: (at: number) => Fetch<readonly ListedRow[]>
}

/** What the current screen shows and can do. The router runs its actions, the frame draws it. */
export type Face = {
  /** The screen that was drawn last. After a switch, this is the previous screen until the new one is drawn. */
  readonly screen: ScreenId
  /** Ids of the rows, in order. */
  readonly ids: readonly string[]
  /** Draws the screen, in at most `height` rows. */
  readonly draw: (area: ScreenArea) => readonly Line[]
  readonly actions: Readonly<Partial<Record<Action, () => void>>>
  /** True if the window is too small to draw the screen. Its keys are then ignored. */
  readonly isCard?: true
  /** Undefined if the screen has no list. */
  readonly list?: FaceList | undefined
  /** Draws the whole frame, without what floats over it. */
  readonly frame?: () => readonly Line[]
  /** The rows of the terminal, as drawn last. */
  readonly lines?: readonly Line[]
  /** Chooses a clicked row (default: a row of the list). */
  readonly choose?: (id: string) => void
  /** Texts of the chosen row that may contain a person's id. Default: only the row's id. */
  readonly who?: () => readonly (string | null | undefined)[]
  /** How far the evidence of the open dialog scrolls, in lines. */
  readonly reach?: number
  /** Texts for the key row instead of the usual ones; `false` hides a key that does nothing for this row or person. */
  readonly hints?: HintWords
  /** What is wrong with the typed filter. */
  readonly problem?: string | undefined
}

/** A listing that is edited, as the instance returned it. */
type EditedListing = { readonly id: string; readonly price: { readonly fixed: string | null } }

/** What all screens and the router share. */
export type Host = {
  readonly link: Link
  readonly clock: LinkClock
  readonly ui: StateStore<Ui>
  readonly queries: Queries
  readonly stream: EventStream
  readonly refreshMs: number
  readonly readonly: boolean
  /** What the mouse does. */
  readonly point: { current: (pointer: Pointer) => void }
  /** Key table. */
  readonly keys: readonly Binding[]
  readonly putOffs: StateStore<readonly PutOff[]>
  /** Copies text to the terminal's clipboard. */
  readonly copy: (text: string) => void
  /** Saves a snapshot of the local store. Undefined for remotes. */
  readonly snapshot: ((name: string) => Promise<Outcome<string>>) | undefined
  /** Reads the last log line of the local daemon. Undefined for remotes. */
  readonly lastWords: (() => Promise<string>) | undefined
  /** Undefined if the cockpit cannot run commands. */
  readonly commandLine: CommandLine | undefined
  /** Undefined if the cockpit cannot run programs. */
  readonly programs?: ProgramRunner | undefined
  /** Reads keys and colors again. @param theme - theme or skin to use from now on */
  readonly reload?: ((theme?: string) => Promise<Outcome<OwnStyle>>) | undefined
  /** Colors in use, if known. */
  readonly look: () => Look | undefined
  /** Saves text to a new file and returns its path. `save` itself is undefined if the cockpit cannot save. */
  readonly save?: ((name: string, text: string) => Outcome<string>) | undefined
  /** Opens a listing in the user's editor. Undefined if the cockpit cannot. */
  readonly edit?: ((listing: EditedListing) => Promise<Outcome<ListingChanges>>) | undefined
  /** Opens what a command shows. @returns false if the command changes data or cannot run here */
  readonly openLine: (line: string) => Promise<boolean>
  /** Gives the terminal to another program while `use` runs. */
  readonly lend: { current: (use: () => void | Promise<void>) => Promise<void> }
  /** The other marketplaces. Undefined if the cockpit was opened by address. */
  readonly elsewhere:
    | {
        readonly names: () => readonly string[]
        readonly link: (name: string) => Link
        /** Opens it in place of this one. */
        readonly go: (name: string) => void
      }
    | undefined
  /** What the current screen shows. Each draw replaces it. */
  readonly face: { current: Face }
  readonly health: () => HealthFacts | undefined
  /** Undefined until known. */
  readonly whereabouts: () => Whereabouts | undefined
  /** Why the platform is paused. Empty if unknown. */
  readonly pauseReason: () => string
}

/** What every screen gets to draw itself. */
export type View = {
  readonly health: Query<HealthFacts>
  readonly where: Whereabouts | undefined
  readonly ui: Ui
  readonly area: ScreenArea
  /** Epoch milliseconds, updated every second. */
  readonly now: number
  /** Key table. */
  readonly keys: readonly Binding[]
  /** Open problems, without the snoozed ones. */
  readonly needs: Query<Needs>
  /** Whether the daemon pushes events, so that data is fetched soon after it changes. */
  readonly isPushed: boolean
  readonly place: Place
}

/** Terminal size. */
export type Size = { readonly columns: number; readonly rows: number }

/** What header and footer need in addition to `View`. */
export type FrameView = View & {
  readonly clock: Query<BusinessClock>
  readonly refreshMs: number
  readonly readonly: boolean
  readonly hints?: HintWords | undefined
}

export type Screen = {
  readonly title: string
  /** Title of the tab if space is short (default: the title). */
  readonly short?: string
  /** Name of the shown part of the screen. Parts with different hooks need different names. */
  readonly part?: (ui: Ui) => string
  /** A React hook that fetches the screen's data. Returns what the screen shows. */
  readonly use: (host: Host, view: View) => Omit<Face, 'screen'>
}

export type Tab = Pick<Screen, 'title' | 'short'> & {
  readonly id: ScreenId
  /** The key that opens the screen. Undefined for screens that only the palette opens. */
  readonly digit?: string
}
