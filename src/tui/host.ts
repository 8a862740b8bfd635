import type { Link, LinkClock } from '../client/link.ts'
import type { ScreenId } from '../model/words.ts'
import { type KeptViewsFile, keepViews, withKeptViews } from './kept-views.ts'
import { createPutOffs, type PutOffFile } from './overview/put-off.ts'
import type { Look } from './parts/theme.ts'
import { type Binding, bindings, inWords } from './shell/bindings.ts'
import type { HealthFacts } from './shell/health.ts'
import { fetchHealth, fetchPauseReason, SLOW_EVERY_MS } from './shell/queries.ts'
import { createPace, createQueries, createStore, pacedSubscription } from './shell/query.ts'
import type { Face, Host } from './shell/screen.ts'
import { createStream } from './shell/stream.ts'
import { firstUi, type Toast, type Ui } from './shell/ui.ts'

export type HostOptions = {
  readonly link: Link
  readonly clock: LinkClock
  readonly screen: ScreenId
  readonly refreshMs: number
  readonly readonly: boolean
  /** Key table (default: `bindings`). */
  readonly keys?: readonly Binding[] | undefined
  /** Whether the terminal shows ASCII only. */
  readonly ascii?: boolean
  /** Message that the cockpit opens with. It stays until esc. */
  readonly notice?: string | undefined
  /** Copies text to the terminal's clipboard. */
  readonly copy: (text: string) => void
  readonly snapshot: Host['snapshot']
  readonly lastWords?: Host['lastWords']
  readonly commandLine: Host['commandLine']
  readonly programs?: Host['programs']
  readonly reload?: Host['reload']
  readonly look?: Look
  /** Draws everything in other colors. */
  readonly restyle?: (look: Look) => void
  readonly save?: Host['save']
  readonly edit?: Host['edit']
  readonly elsewhere?: Host['elsewhere']
  /** File that stores snoozed items (default: they are not stored). */
  readonly putOffFile?: PutOffFile | undefined
  /** File of views and filters (default: none). */
  readonly keptViews?: KeptViewsFile | undefined
  /** Minimum time between automatic redraws. */
  readonly frameGapMs: number
}

export type CockpitOptions = Omit<HostOptions, 'clock' | 'copy' | 'frameGapMs' | 'elsewhere' | 'restyle'> & {
  /** The other marketplaces. Undefined if the cockpit cannot switch. */
  readonly others: Omit<NonNullable<Host['elsewhere']>, 'go'> | undefined
  /** `ink` lets Ink draw. `own` uses the painter, which writes only what changed. */
  readonly painter: 'ink' | 'own'
  readonly look: Look
  /** Whether the mouse is read, instead of belonging to the terminal. */
  readonly mouse: boolean
  /** Display zone. */
  readonly zone: 'local' | 'utc'
  readonly now: () => number
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  /** Closes the cockpit. */
  readonly signal: AbortSignal
}

/** An empty screen. */
export function faceless(screen: ScreenId): Face {
  return { screen, ids: [], draw: () => [], actions: {} }
}

/** Creates what all screens share. Every event makes queries fetch soon, since their data may have changed. */
export function createHost(options: HostOptions): Host {
  const { link, clock, screen, refreshMs, readonly, copy, snapshot, commandLine, frameGapMs } = options
  const { notice, lastWords, elsewhere, reload: read } = options
  const labeled = (keys: readonly Binding[]) => (options.ascii ? inWords(keys) : keys)
  let shown = labeled(options.keys ?? bindings)
  let { look } = options
  const toast: Toast | undefined = notice === undefined ? undefined : { text: `! ${notice}`, tone: 'warn', stays: true }
  const ui = createStore<Ui>({ ...withKeptViews(firstUi(screen), options.keptViews?.read()), toast })
  if (options.keptViews !== undefined) keepViews(ui, options.keptViews)
  const pace = createPace(clock, frameGapMs)
  const queries = createQueries(clock, pace)
  const stream = createStream({ link, clock, onEvent: () => queries.hint() })
  const host: Host = {
    link,
    clock,
    queries,
    refreshMs,
    readonly,
    point: { current: () => undefined },
    get keys() {
      return shown
    },
    look: () => look,
    programs: options.programs,
    reload:
      read &&
      (async (theme) => {
        const found = await read(theme)
        if (!found.ok) return found
        shown = labeled(found.value.keys)
        look = found.value.look
        options.restyle?.(look)
        // Draws again with the new keys.
        ui.set({ ...ui.get() })
        return found
      }),
    putOffs: createPutOffs(options.putOffFile),
    copy,
    snapshot,
    save: options.save,
    edit: options.edit,
    openLine: async (line) => (await import('./picker.ts')).openLine(host, line),
    lend: { current: async (use) => use() },
    lastWords,
    commandLine,
    elsewhere,
    ui,
    stream: { ...stream, subscribe: pacedSubscription(stream.subscribe, pace) },
    face: { current: faceless(screen) },
    whereabouts: () => queries.open('whereabouts', link.whereabouts, refreshMs).get().value,
    health: () => queries.open<HealthFacts>('health', fetchHealth(link), refreshMs).get().value,
    pauseReason: () => queries.open('pause', fetchPauseReason(link), SLOW_EVERY_MS).get().value ?? '',
  }
  return host
}
