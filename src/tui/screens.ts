import { type ScreenId, screenIds } from '../model/words.ts'
import { cronsScreen } from './crons/screen.ts'
import { endpointsScreen } from './endpoints.ts'
import { overviewScreen } from './overview/screen.ts'
import type { Screen, Tab } from './shell/screen.ts'
import { logPart } from './shell/ui.ts'

/** Screens whose modules are loaded on demand, so that the first frame comes sooner. */
const later: readonly (Tab & { readonly id: keyof typeof load })[] = [
  { id: 'services', digit: '2', title: 'Services', short: 'Svcs', part: ({ shopView }) => shopView },
  { id: 'jobs', digit: '3', title: 'Jobs', short: 'Jobs' },
  { id: 'threads', digit: '4', title: 'Threads', short: 'Thrd' },
  { id: 'compliance', digit: '8', title: 'Compliance', short: 'Comp' },
  { id: 'money', digit: '7', title: 'Money', short: 'Mony' },
  { id: 'logs', digit: '9', title: 'Logs', short: 'Logs', part: ({ logs }) => logPart(logs.view) },
  { id: 'requests', title: 'Requests and bids', short: 'Reqs' },
  { id: 'people', title: 'People', short: 'Ppl' },
  { id: 'clock', title: 'Clock', short: 'Clck' },
]

const load = {
  services: async () => (await import('./services/screen.ts')).useServices,
  jobs: async () => (await import('./jobs/screen.ts')).useJobs,
  threads: async () => (await import('./threads/screen.ts')).useThreads,
  compliance: async () => (await import('./compliance/screen.ts')).useCompliance,
  money: async () => (await import('./money/screen.ts')).useMoney,
  logs: async () => (await import('./logs/screen.ts')).useLogs,
  requests: async () => (await import('./requests/screen.ts')).useRequests,
  people: async () => (await import('./people/screen.ts')).usePeople,
  clock: async () => (await import('./clock/screen.ts')).useClockScreen,
} as const satisfies Readonly<Partial<Record<ScreenId, () => Promise<Screen['use']>>>>

const loaded = new Map<ScreenId, Screen>(
  [overviewScreen, cronsScreen, endpointsScreen].map((screen) => [screen.id, screen]),
)

/** All screens, in order. Those with a digit are tabs. */
export const screens: readonly Tab[] = [...loaded.values(), ...later].toSorted(
  (a, b) => screenIds.indexOf(a.id) - screenIds.indexOf(b.id),
)

export const tabs: readonly (Tab & { readonly digit: string })[] = screens.flatMap((screen) =>
  screen.digit === undefined ? [] : [{ ...screen, digit: screen.digit }],
)

/** Undefined until loaded. */
export function screenOf(id: ScreenId): Screen | undefined {
  return loaded.get(id)
}

/** Loads the module of a screen. `screenOf` then returns it. */
export async function loadScreen(id: ScreenId): Promise<void> {
  const screen = later.find((one) => one.id === id)
  if (screen === undefined || loaded.has(id)) return
  loaded.set(id, { ...screen, use: await load[screen.id]() })
}
