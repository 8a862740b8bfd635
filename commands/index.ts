// Written by `npm run commands` from the files beside it; a test fails when it is stale.
import type { Entry } from '../src/cli/command.ts'

export const entries: readonly Entry[] = [
  {
    name: 'version',
    summary: 'print the version of souk and of Node',
    heading: 'Other',
    load: () => import('./version.ts'),
  },
]
