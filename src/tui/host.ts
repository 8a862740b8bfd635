import type { Link, LinkClock } from '../client/link.ts'
import type { KeptViews } from '../model/cockpit-files.ts'
import { postingStatuses } from '../model/words.ts'
import { type ScreenId, screenIds } from '../nouns/screens.ts'
import { createPutOffs, type PutOffFile } from './overview/put-off.ts'
import type { Look } from './parts/theme.ts'
import { type Binding, bindings, inWords } from './shell/bindings.ts'
import type { HealthFacts } from './shell/health.ts'
import { fetchHealth, fetchPauseReason, SLOW_EVERY_MS } from './shell/queries.ts'
import { createPace, createQueries, createStore, pacedSubscription, type StateStore } from './shell/query.ts'
import type { Face, Host } from './shell/screen.ts'
import { createStream } from './shell/stream.ts'
import {
  endpointViews,
  firstUi,
  jobViews,
  logViews,
  moneyViews,
  shopViews,
  type Toast,
  threadViews,
  type Ui,
} from './shell/ui.ts'

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

/** Storage for one marketplace. */
type KeptViewsFile = { readonly read: () => KeptViews | undefined; readonly write: (kept: KeptViews) => void }

const viewsOf = {
  endpointView: endpointViews,
  jobView: jobViews,
  shopView: shopViews,
  moneyView: moneyViews,
  threadView: threadViews,
  requestView: ['all', ...postingStatuses],
} as const satisfies Partial<Record<keyof Ui, readonly string[]>>

/** Restores views and screens. Unknown ones, from a file of another version, are ignored. */
function withKeptViews(ui: Ui, kept: KeptViews | undefined): Ui {
  if (kept === undefined) return ui
  const ofScreens = <T>(values: Readonly<Record<string, T>>) =>
    Object.fromEntries(screenIds.flatMap((id) => (values[id] === undefined ? [] : [[id, values[id]]])))
  const known = Object.entries<readonly string[]>(viewsOf).flatMap(([name, views]) =>
    views.filter((view) => view === kept.views[name]).map((view) => [name, view]),
  )
  const log = logViews.find((view) => view === kept.views.logs) ?? ui.logs.view
  const { filters, sorts, putAway } = kept
  return {
    ...ui,
    ...Object.fromEntries(known),
    logs: { ...ui.logs, view: log },
    filters: ofScreens(filters),
    sorts: ofScreens(sorts),
    putAway: ofScreens(putAway),
  }
}

function keptOf({ filters, sorts, putAway, logs, ...ui }: Ui): string {
  const views = {
    logs: logs.view,
    ...Object.fromEntries(Object.keys(viewsOf).map((name) => [name, Reflect.get(ui, name)])),
  }
  return JSON.stringify({ filters, sorts, putAway, views })
}

/** Saves changes, except a filter that is still being typed. */
function keepViews({ get, subscribe }: StateStore<Ui>, file: KeptViewsFile): void {
  let last = keptOf(get())
  subscribe(() => {
    const ui = get()
    const next = ui.typing === undefined ? keptOf(ui) : last
    if (next === last) return
    last = next
    file.write(JSON.parse(next))
  })
}
