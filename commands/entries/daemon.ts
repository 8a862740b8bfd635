// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const daemon: readonly EntryRow[] = [
  ['attention', 'say what needs a hand, each with the command that mends it', () => import('../attention.ts')],
  [
    'clock advance',
    'move business time ahead; what falls due on the way happens in order',
    () => import('../clock/advance.ts'),
  ],
  ['clock freeze', 'stop business time where it is', () => import('../clock/freeze.ts')],
  ['clock run', 'let business time go on', () => import('../clock/run.ts')],
  ['clock set', 'move business time to a time that is not behind the present one', () => import('../clock/set.ts')],
  ['clock show', 'show business time beside wall time', () => import('../clock/show.ts')],
  ['crons list', 'list the scheduled jobs and how they are', () => import('../crons/list.ts')],
  ['crons pause', 'keep a scheduled job from running', () => import('../crons/pause.ts')],
  ['crons resume', 'let a paused job run again', () => import('../crons/resume.ts')],
  ['crons run', 'run a scheduled job now', () => import('../crons/run.ts')],
  ['crons view', 'show one scheduled job with its last runs', () => import('../crons/view.ts')],
  [
    'daemon serve',
    'run the daemon in this process (what up starts)',
    () => import('../daemon/serve.ts'),
    { hidden: true },
  ],
  ['doctor', 'look for what is wrong on this machine, and repair the store', () => import('../doctor.ts')],
  ['down', 'stop the local daemon: in order, then by force', () => import('../down.ts')],
  ['logs', 'show what the daemon logged', () => import('../logs.ts')],
  ['reset', 'remove all data of the local daemon; wallets and settings stay unless told', () => import('../reset.ts')],
  ['restart', 'stop the local daemon and start it as it was', () => import('../restart.ts')],
  ['restore', 'put a backup in the place of the local store', () => import('../restore.ts')],
  ['snapshots list', 'list the copies of the local store, newest first', () => import('../snapshots/list.ts')],
  ['snapshots restore', 'go back to a copy of the local store', () => import('../snapshots/restore.ts')],
  ['snapshots save', 'keep a copy of the local store under a name', () => import('../snapshots/save.ts')],
  ['status', 'say whether the daemon runs and how it is', () => import('../status.ts')],
  ['tour', 'walk through a first sale: daemon, wallet, price, payment, result', () => import('../tour.ts')],
  ['tui', 'open the full-screen cockpit', () => import('../tui.ts')],
  ['up', 'start the local daemon; does nothing when it runs', () => import('../up.ts')],
]
