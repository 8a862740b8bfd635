import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import { contractMirror } from '../escrow/contract.ts'
import { hasMoneyIn } from '../ledger/rows.ts'
import { jobWork } from './due-work.ts'

/** Moves jobs on whose time has come: verification, release, deadlines (decisions §8). */
export const escrowMonitor = defineCron({
  name: 'escrow-monitor',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  async run(call) {
    // What the contract has paid is not paid again.
    await contractMirror.of(call.ctx)?.look()
    const holds = await hasMoneyIn(call.ctx, ['esc'])
    const done = await runDueWork(jobWork, call)
    return holds || done > 0 ? undefined : idleUnderCutover(call.ctx)
  },
  nextDue: (ctx, from) => earliestDue(jobWork, ctx, from),
})
