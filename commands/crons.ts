import type { WireAnswer } from '../src/api/index.ts'
import { andJson, defineCall, defineCommand, watchOptions } from '../src/cli/command.ts'
import { cronNamed, moveClock, timeOf } from '../src/cli/nouns/clock.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { stateOfRuns } from '../src/model/state-words.ts'
import { bold, green } from '../src/text/text.ts'

const columns: readonly Column<WireAnswer<'listCrons'>['crons'][number]>[] = [
  { title: 'CRON', value: ({ name }) => name },
  { title: 'STATE', value: (cron) => (cron.paused ? 'paused' : stateOfRuns(cron)) },
  { title: 'LAST OK', value: ({ last_success }) => last_success, drop: 1 },
  { title: 'LAST FAIL', value: ({ last_failure }) => last_failure, drop: 3 },
  { title: 'NEXT', value: ({ next_run }) => next_run, drop: 2 },
]

export const cronsList = defineCall({
  name: 'crons list',
  summary: 'list scheduled jobs and their state',
  options: z.object(watchOptions),
  examples: ['souk crons list', 'souk crons list --json'],
  asks: 'listCrons',
  rows: ({ crons }) => crons,
  columns,
  view({ crons, automatic }, io) {
    printRows(io, columns, crons)
    if (!automatic) io.note('this daemon runs no scheduled jobs (--crons off)')
  },
})

export const cronsPause = defineCall({
  name: 'crons pause',
  summary: 'pause a scheduled job',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  examples: ['souk crons pause auto-refund', 'souk crons pause auto-refund --json'],
  asks: 'pauseCron',
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} is paused`),
})

export const cronsResume = defineCall({
  name: 'crons resume',
  summary: 'resume a scheduled job',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  examples: ['souk crons resume auto-refund', 'souk crons resume auto-refund --json'],
  asks: 'resumeCron',
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} is resumed`),
})

export const cronsRun = defineCommand({
  name: 'crons run',
  summary: 'run a scheduled job now',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  options: z.object({ at: z.text({ description: 'advance business time first; due events happen', value: 'time' }) }),
  examples: [
    ...andJson('souk crons run auto-refund'),
    'souk crons run auto-refund --at 2030-01-31T00:00:00Z --dry-run',
  ],
  prints: 'runCron',
  async run({ args: { cron: name }, options: { at }, session }) {
    const set = at === undefined ? undefined : timeOf(at)
    const open = await session()
    // Check the cron's name before moving the clock, which cannot be moved back.
    if (set !== undefined) {
      await cronNamed(open, name)
      await moveClock(open, { set })
    }
    return open.call('runCron', { params: { name } })
  },
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} ran`),
})

export const cronsView = defineCommand({
  name: 'crons view',
  summary: 'show one scheduled job with its last runs',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  options: z.object(watchOptions),
  examples: ['souk crons view auto-refund', 'souk crons view escrow-monitor --json'],
  run: async (context) => cronNamed(await context.session(), context.args.cron),
  rows: ({ runs }) => runs,
  view(cron, io) {
    io.line(`${bold(cron.name)}   ${cron.paused ? 'paused' : stateOfRuns(cron)}   ${cron.schedule}`)
    io.line(`  next      ${cron.next_run ?? 'none while paused'}`)
    for (const { at, result, took_ms: took, trigger, reason } of cron.runs) {
      io.line(`  ${at}  ${result}  ${took} ms  ${trigger}${reason === null ? '' : `  ${reason}`}`)
    }
  },
})
