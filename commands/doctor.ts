import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import type { Column } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { type FoundDaemon, findDaemon, isLive } from '../src/client/discover.ts'
import type { Diagnosis, Examination, PartDiagnosis } from '../src/lifecycle/doctor/check.ts'
import { daemonProbe, runningProbes, stoppedProbes } from '../src/lifecycle/doctor/daemon.ts'
import { machineProbes } from '../src/lifecycle/doctor/machine.ts'
import { cyan, green, red, yellow } from '../src/text/text.ts'

const allProbes = [...machineProbes, daemonProbe, ...stoppedProbes, ...runningProbes]
const ids = allProbes.map(({ id }) => id)

type Check = Omit<Diagnosis, 'mend' | 'fix'> & { readonly id: string; readonly fix: string | null }

const columns: readonly Column<Check>[] = [
  { title: 'CHECK', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'DETAIL', value: ({ detail }) => detail, flexible: true },
  { title: 'FIX', value: ({ fix }) => fix },
]

export const command = defineCommand({
  name: 'doctor',
  heading: 'Daemon',
  summary: 'find and fix problems on this machine',
  description:
    '--fix fixes file modes, a stale registration and unreferenced files, without data loss. --repair makes a damaged store open again; removed parts are kept in a file next to the store. --online sends one free request to each external service, at most once an hour; without --online, no service is contacted.',
  options: z.object({
    online: z.flag({ description: 'also check the external services that house services use' }),
    only: z.array(z.enum(ids)).default([]).meta({ description: 'run only this check', value: 'name' }),
    fix: z.flag({ description: 'fix problems that can be fixed without data loss' }),
    repair: z.flag({ description: 'repair the store of a stopped daemon' }),
    exitStatus: z.flag({ description: 'exit with code 11 if there is a problem' }),
  }),
  examples: [
    'souk doctor',
    'souk doctor --exit-status --json',
    'souk doctor --only disk --only lock --fix',
    'souk doctor --only engines --online',
  ],
  async run(context) {
    if (context.options.repair) {
      return { repair: await repair(context, await findDaemon(context.places)), checks: [], problems: 0 }
    }
    const report = await examined(context)
    if (context.options.exitStatus && report.problems > 0) context.exit('check_failed')
    return report
  },
  rows: ({ checks }) => checks,
  columns,
  view(report, io) {
    if ('repair' in report) showRepair(report.repair, io)
    else showChecks(report, io)
  },
})

type Options = { readonly only: readonly string[]; readonly fix: boolean; readonly online: boolean }

async function examined(context: CommandContext<unknown, Options>) {
  const { only, fix, online } = context.options
  const found = await findDaemon(context.places)
  if (online && found.state !== 'running') {
    throw new CliError('no_daemon', 'External services are checked by the daemon, which is not running.', {
      next: ['souk up'],
    })
  }
  const wanted = probesFor(found).filter(({ id }) => only.length === 0 || only.includes(id))
  const checks: Check[] = []
  const fixed: { readonly id: string; readonly did: string }[] = []
  for (const { id, look, parts } of wanted) {
    let finding = await look(context, found)
    if (fix && finding.mend) {
      wouldDo(context.globals, `fixed: ${finding.detail}`)
      fixed.push({ id, did: await finding.mend() })
      finding = await look(context, await findDaemon(context.places))
    }
    const { status, detail } = finding
    checks.push({ id, status, detail, fix: finding.fix === undefined ? null : context.io.hint(finding.fix) })
    // The row of a check already names its missing parts, so the parts are listed only with --online or --only.
    if (parts && (online || only.includes(id)))
      checks.push(...(await parts(context, { online })).map((told) => partOf(id, told)))
  }
  return { checks, fixed, ...countsOf(checks) }
}

/** The probes to run. A daemon that starts or hangs gets none, since it holds the store and does not respond. */
function probesFor({ state }: FoundDaemon): readonly Examination[] {
  const isAskable = state !== 'unresponsive' && state !== 'starting'
  const ofDaemon = state === 'running' ? runningProbes : stoppedProbes
  return [...machineProbes, daemonProbe, ...(isAskable ? ofDaemon : [])]
}

function partOf(id: string, { part, status, detail }: PartDiagnosis): Check {
  return { id: `${id}/${part}`, status, detail, fix: null }
}

/** Parts count individually. */
function countsOf(checks: readonly Check[]) {
  const whole = checks.filter(({ id }) => !checks.some((other) => other.id.startsWith(`${id}/`)))
  const of = (status: Check['status']) => whole.filter((one) => one.status === status).length
  return { problems: of('problem'), warnings: of('warning') }
}

function showRepair(report: Awaited<ReturnType<typeof repair>>, io: Io): void {
  io.line(report.repaired ? `${green('✓')} the store opens again` : `${green('✓')} nothing to repair`)
  for (const finding of report.findings) io.line(`  found     ${finding}`)
  for (const file of report.quarantined) io.line(`  kept      ${io.path(file)}`)
  const lost = report.droppedTransactions
  if (lost > 0) io.line(`  ${yellow('!')} ${lost} transactions after the damage were removed`)
  io.note(`  next      ${cyan(io.hint('souk up'))}`)
}

function showChecks({ checks, fixed, problems, warnings }: Awaited<ReturnType<typeof examined>>, io: Io): void {
  const width = Math.max(...checks.map(({ id }) => id.length))
  for (const { id, status, detail, fix } of checks) {
    io.line(`${signs[status]} ${id.padEnd(width)} ${detail}${fix === null ? '' : `   ${cyan(`→ ${fix}`)}`}`)
  }
  for (const { id, did } of fixed) io.line(`${green('✓')} ${id.padEnd(width)} ${did}`)
  const said = [counted(problems, 'problem'), counted(warnings, 'warning')].filter((words) => words !== '')
  io.line(said.length === 0 ? 'no problem found' : said.join(', '))
}

function counted(count: number, noun: string): string {
  if (count === 0) return ''
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

const signs = { ok: green('✓'), warning: yellow('!'), problem: red('✗') } as const

async function repair({ places, globals, system }: CommandContext<unknown, unknown>, found: FoundDaemon) {
  if (isLive(found)) throw usage('The daemon is using its data.', { next: ['souk down', 'souk doctor --repair'] })
  if (globals.dryRun) throw usage('doctor --repair has no dry run; run souk doctor to check only.')
  return (await system.daemon()).repairData(places.data)
}
