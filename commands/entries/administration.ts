// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const administration: readonly EntryRow[] = [
  ['admin adjust', 'move money between a balance and the operator', () => import('../admin/adjust.ts')],
  ['admin backup', 'save the whole store of a running instance as one tar', () => import('../admin/backup.ts')],
  [
    'admin disputes default',
    'how a dispute ends that nobody decides, or that it waits',
    () => import('../admin/disputes/default.ts'),
  ],
  ['admin escrow pause', 'stop what fills escrow, and releases', () => import('../admin/escrow/pause.ts')],
  ['admin escrow status', 'whether escrow is paused, since when and why', () => import('../admin/escrow/status.ts')],
  ['admin escrow unpause', 'let escrow work again', () => import('../admin/escrow/unpause.ts')],
  [
    'admin features list',
    'show the switches: the checkout cutover, terms, features',
    () => import('../admin/features/list.ts'),
    { isDefault: true },
  ],
  ['admin features set', 'turn a switch or a feature on or off', () => import('../admin/features/set.ts')],
  [
    'admin holds',
    'list all money that waits: whose it is, why, and what happens next',
    () => import('../admin/holds.ts'),
  ],
  ['admin jobs bundle', 'all that a ruling rests on, in one document', () => import('../admin/jobs/bundle.ts')],
  [
    'admin jobs emergency-withdraw',
    'pay what is held for a job back to its buyer, also while escrow is paused',
    () => import('../admin/jobs/emergency-withdraw.ts'),
  ],
  ['admin jobs list', 'list the jobs of everybody, newest first', () => import('../admin/jobs/list.ts')],
  [
    'admin jobs resolve',
    'decide a dispute: pay the provider, refund the buyer, or divide',
    () => import('../admin/jobs/resolve.ts'),
  ],
  ['admin log', 'list what administrators did, newest first', () => import('../admin/log.ts')],
  ['admin metrics', 'show the figures that Prometheus reads', () => import('../admin/metrics.ts')],
  [
    'admin named-services list',
    'list the advertised paths and what stands behind them',
    () => import('../admin/named-services/list.ts'),
    { isDefault: true },
  ],
  [
    'admin named-services set',
    'put a listing or a plan behind an advertised path, or close it',
    () => import('../admin/named-services/set.ts'),
  ],
  [
    'admin participants list',
    'list everybody, listed publicly or not, newest first',
    () => import('../admin/participants/list.ts'),
  ],
  [
    'admin participants suspend',
    'let somebody read only, and take off the market what it offers',
    () => import('../admin/participants/suspend.ts'),
  ],
  ['admin participants tier', 'set how far somebody is verified', () => import('../admin/participants/tier.ts')],
  [
    'admin participants unsuspend',
    'end a suspension, and bring back what it took off the market',
    () => import('../admin/participants/unsuspend.ts'),
  ],
  [
    'admin payees',
    'list who may sell: what was sold, earned, paid, is due and held',
    () => import('../admin/payees.ts'),
  ],
  ['admin payouts', 'list what leaves through the chain, newest first', () => import('../admin/payouts.ts')],
  [
    'admin plans list',
    'list the plans of everybody, narrowed and sorted by any of their fields',
    () => import('../admin/plans/list.ts'),
  ],
  ['admin platform pause', 'stop all paid activity', () => import('../admin/platform/pause.ts')],
  [
    'admin platform status',
    'whether paid activity is paused, since when and why',
    () => import('../admin/platform/status.ts'),
  ],
  ['admin platform unpause', 'start paid activity again', () => import('../admin/platform/unpause.ts')],
  [
    'admin products list',
    'list the products of everybody, narrowed and sorted by any of their fields',
    () => import('../admin/products/list.ts'),
  ],
  [
    'admin requests list',
    'list what everybody asks for, narrowed and sorted by any of its fields',
    () => import('../admin/requests/list.ts'),
  ],
  ['admin sdn add', 'refuse a wallet that is not on the list', () => import('../admin/sdn/add.ts')],
  ['admin sdn list', 'list the sanctioned wallets', () => import('../admin/sdn/list.ts')],
  ['admin sdn remove', 'clear a wallet that was added by hand', () => import('../admin/sdn/remove.ts')],
  [
    'admin services list',
    'list the listings of everybody, narrowed and sorted by any of their fields',
    () => import('../admin/services/list.ts'),
  ],
  [
    'admin subs list',
    'list the subscriptions of everybody, narrowed and sorted by any of their fields',
    () => import('../admin/subs/list.ts'),
  ],
  [
    'admin threads list',
    'list the conversations of everybody, the last changed first',
    () => import('../admin/threads/list.ts'),
  ],
  ['admin threads send', 'answer an inquiry on a listing of the house', () => import('../admin/threads/send.ts')],
  [
    'admin threads view',
    'show a conversation of others: state, price, messages',
    () => import('../admin/threads/view.ts'),
  ],
  [
    'admin verification list',
    'list attempts to have an identity verified, newest first',
    () => import('../admin/verification/list.ts'),
    { isDefault: true },
  ],
  [
    'admin webhooks list',
    "list what was sent to everybody's endpoints, newest first",
    () => import('../admin/webhooks/list.ts'),
    { isDefault: true },
  ],
  [
    'admin webhooks replay',
    'send a message to an endpoint of somebody again',
    () => import('../admin/webhooks/replay.ts'),
  ],
]
