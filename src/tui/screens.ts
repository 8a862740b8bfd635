import { type ScreenId, tabIds } from '../nouns/screens.ts'
import { screen as overview } from './overview/screen.ts'
import { screenFiles } from './screen-files.ts'
import type { Screen, Tab } from './shell/screen.ts'

/** The overview, and the screens that were opened. Others are loaded on demand, so that the first frame comes sooner. */
const loaded = new Map<ScreenId, Screen>([['overview', overview]])

/** All screens, in order. Those with a digit are tabs. */
export const screens: readonly Tab[] = screenFiles.map(([screen], at) =>
  at < tabIds.length ? { ...screen, digit: String(at + 1) } : screen,
)

export const tabs = screens.flatMap(({ digit, short, ...tab }) =>
  digit === undefined ? [] : [{ ...tab, digit, short: short ?? tab.title }],
)

/** Undefined until loaded. */
export function screenOf(id: ScreenId): Screen | undefined {
  return loaded.get(id)
}

/** Loads the module of a screen. `screenOf` then returns it. */
export async function loadScreen(id: ScreenId): Promise<void> {
  const [, load] = screenFiles.find(([screen]) => screen.id === id) ?? []
  if (load !== undefined && !loaded.has(id)) loaded.set(id, await load())
}
