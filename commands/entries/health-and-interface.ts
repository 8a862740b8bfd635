// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const healthAndInterface: readonly EntryRow[] = [
  ['api', 'send any request: a path, or an operation by its name', () => import('../api.ts')],
  ['compliance screen', 'look wallets up among the sanctioned ones', () => import('../compliance/screen.ts')],
  [
    'compliance show',
    'show the sanctions list and what the gates refused',
    () => import('../compliance/show.ts'),
    { isDefault: true },
  ],
  [
    'discovery guide',
    'print the plain guide that agents read first (/llms.txt)',
    () => import('../discovery/guide.ts'),
  ],
  [
    'discovery list',
    'list what x402 clients find here: addresses that are paid for',
    () => import('../discovery/list.ts'),
    { isDefault: true },
  ],
  [
    'discovery manifest',
    'show the x402 manifest: whom to pay, on which chain, and for what',
    () => import('../discovery/manifest.ts'),
  ],
  ['discovery search', 'search what is paid for, as x402 clients do', () => import('../discovery/search.ts')],
  ['endpoints list', 'list the rows of the interface and their status', () => import('../endpoints/list.ts')],
  ['endpoints view', 'show one row of the interface with its description', () => import('../endpoints/view.ts')],
  ['health', 'show the health report', () => import('../health.ts')],
  ['openapi', 'print the OpenAPI description, or check it against the health report', () => import('../openapi.ts')],
  [
    'stats calls',
    'show how often each endpoint was called, how it answered, and how fast',
    () => import('../stats/calls.ts'),
  ],
  ['stats event', 'count one look at an explorer', () => import('../stats/event.ts')],
  ['stats series', 'show calls, durations, sales and money by time', () => import('../stats/series.ts')],
  ['stats watching', 'show how often others are looked up here, by day', () => import('../stats/watching.ts')],
]
