import type { KeptViews } from '../model/cockpit-files.ts'
import { postingStatuses, screenIds } from '../model/words.ts'
import type { StateStore } from './shell/query.ts'
import { endpointViews, jobViews, logViews, moneyViews, shopViews, threadViews, type Ui } from './shell/ui.ts'

/** Storage for one marketplace. */
export type KeptViewsFile = {
  readonly read: () => KeptViews | undefined
  readonly write: (kept: KeptViews) => void
}

const viewsOf = {
  endpointView: endpointViews,
  jobView: jobViews,
  shopView: shopViews,
  moneyView: moneyViews,
  threadView: threadViews,
  requestView: ['all', ...postingStatuses],
} as const satisfies Partial<Record<keyof Ui, readonly string[]>>

/** Restores views and screens. Unknown ones, from a file of another version, are ignored. */
export function withKeptViews(ui: Ui, kept: KeptViews | undefined): Ui {
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
export function keepViews({ get, subscribe }: StateStore<Ui>, file: KeptViewsFile): void {
  let last = keptOf(get())
  subscribe(() => {
    const ui = get()
    const next = ui.typing === undefined ? keptOf(ui) : last
    if (next === last) return
    last = next
    file.write(JSON.parse(next))
  })
}
