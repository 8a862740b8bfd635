// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const other: readonly EntryRow[] = [
  [
    '__complete',
    'say which words may come next (what the shells ask)',
    () => import('../__complete.ts'),
    { hidden: true },
  ],
  ['completion', 'print what makes a shell complete words of souk', () => import('../completion.ts')],
  ['help', 'explain a command or a topic', () => import('../help.ts')],
  ['man', 'show the manual page of a command, or write all of them', () => import('../man.ts')],
  [
    'version',
    'print the version of souk, the commit it was built from, and the version of Node',
    () => import('../version.ts'),
  ],
]
