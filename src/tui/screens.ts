import type { ScreenId } from './bindings.ts'
import type { Screen } from './face.ts'
import { cronsScreen } from './screens/crons.ts'
import { endpointsScreen } from './screens/endpoints.ts'
import { logsScreen } from './screens/logs.ts'
import { overviewScreen } from './screens/overview.ts'

/** The screens there are, in the order of the tabs. */
export const screens: readonly Screen[] = [overviewScreen, cronsScreen, endpointsScreen, logsScreen]

export function screenOf(id: ScreenId): Screen {
  return screens.find((screen) => screen.id === id) ?? overviewScreen
}
