import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import { type Brief, briefOf, readHealth } from '../src/cli/nouns/health.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { type FoundDaemon, findDaemon } from '../src/client/discover.ts'
import { cyan, green, red, span, yellow } from '../src/text/text.ts'

const NODE_FLOOR = [22, 13] as const
const OTHERS_MAY = 0o077
const CLOCK_SKEW_MAX_MS = 2_000
/** Of the newest disputes. */
const DISPUTES_SHOWN = 100

type Check = {
  readonly id: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** A command to type. */
  readonly fix?: string
}
type Host = CommandContext<unknown, unknown>

export const command = defineCommand({
  name: 'doctor',
  heading: 'Daemon',
  summary: 'look for what is wrong on this machine, and repair the store',
  description: '--repair makes a damaged store open again; what it cuts off is kept beside it, never deleted.',
  args: z.object({}),
  options: z.object({
    repair: z.boolean().default(false).meta({ description: 'repair the store of a stopped daemon' }),
    exitStatus: z.boolean().default(false).meta({ description: 'exit 11 when there is a problem' }),
  }),
  examples: ['souk doctor', 'souk doctor --exit-status --json'],
  async run(context) {
    const found = await findDaemon(context.places)
    if (context.options.repair) return { repair: await repair(context, found), checks: [], problems: 0 }
    const checks = [...machineChecks(context), ...(await daemonChecks(context, found))]
    const problems = checks.filter(({ status }) => status === 'problem').length
    if (context.options.exitStatus && problems > 0) context.exit('check_failed')
    return { checks, problems }
  },
  rows: ({ checks }) => checks,
  view(report, io) {
    if ('repair' in report) showRepair(report.repair, io)
    else showChecks(report, io)
  },
})

function showRepair(report: Awaited<ReturnType<typeof repair>>, io: Io): void {
  io.line(report.repaired ? `${green('✓')} the store opens again` : `${green('✓')} nothing had to be repaired`)
  for (const finding of report.findings) io.line(`  found     ${finding}`)
  for (const file of report.quarantined) io.line(`  kept      ${io.path(file)}`)
  const lost = report.droppedTransactions
  if (lost > 0) io.line(`  ${yellow('!')} ${lost} transactions behind the damage were cut off`)
  io.note(`  next      ${cyan(io.hint('souk up'))}`)
}

function showChecks({ checks, problems }: { checks: readonly Check[]; problems: number }, io: Io): void {
  for (const { id, status, detail, fix } of checks) {
    io.line(`${signs[status]} ${id.padEnd(10)} ${detail}${fix === undefined ? '' : `   ${cyan(`→ ${io.hint(fix)}`)}`}`)
  }
  io.line(problems === 0 ? 'no problem found' : `${problems} problems`)
}

const signs = { ok: green('✓'), warning: yellow('!'), problem: red('✗') } as const

async function repair({ places, globals, system }: Host, found: FoundDaemon) {
  if (found.state === 'running' || found.state === 'unresponsive') {
    throw usage('The daemon holds its store.', { next: ['souk down', 'souk doctor --repair'] })
  }
  if (globals.dryRun) throw usage('doctor --repair has no dry run; souk doctor only looks.')
  return (await system.daemon()).repairData(places.data)
}

function machineChecks({ system, places }: Host): Check[] {
  const [major = 0, minor = 0] = system.node.split('.').map(Number)
  const recent = major > NODE_FLOOR[0] || (major === NODE_FLOOR[0] && minor >= NODE_FLOOR[1])
  const node: Check = recent
    ? { id: 'node', status: 'ok', detail: system.node }
    : { id: 'node', status: 'problem', detail: `${system.node} is older than ${NODE_FLOOR.join('.')}` }
  return [node, ...['secrets.json', 'wallets'].map((name) => modeCheck(join(places.config, name), name))]
}

function modeCheck(path: string, name: string): Check {
  const id = name.replace('.json', '')
  if (!existsSync(path)) return { id, status: 'ok', detail: 'none yet' }
  const open = (statSync(path).mode & OTHERS_MAY) !== 0
  return open
    ? { id, status: 'problem', detail: `${path} can be read by others`, fix: `chmod -R go= ${path}` }
    : { id, status: 'ok', detail: 'only you may read it' }
}

async function daemonChecks(context: Host, found: FoundDaemon): Promise<Check[]> {
  switch (found.state) {
    case 'absent':
      return [{ id: 'daemon', status: 'warning', detail: 'not running', fix: 'souk up' }, await storeCheck(context)]
    case 'stale':
      return [
        { id: 'daemon', status: 'problem', detail: 'it ended without tidying up', fix: 'souk up' },
        await storeCheck(context),
      ]
    case 'unresponsive':
      return [{ id: 'daemon', status: 'problem', detail: 'it runs and does not answer', fix: 'souk restart' }]
    case 'running':
      return [
        { id: 'daemon', status: 'ok', detail: `pid ${found.registration.pid}, ${found.registration.url}` },
        ...(await runningChecks(context)),
      ]
  }
}

async function storeCheck({ places, system }: Host): Promise<Check> {
  if (!existsSync(join(places.data, 'store', 'MANIFEST.json'))) return { id: 'store', status: 'ok', detail: 'none yet' }
  try {
    const { records, seq, damagedBlobs } = await (await system.daemon()).verifyData(places.data)
    const blobs = damagedBlobs.length
    if (blobs > 0) return { id: 'store', status: 'problem', detail: `${blobs} stored files are damaged` }
    return { id: 'store', status: 'ok', detail: `${records} records, transaction ${seq}` }
  } catch (error) {
    return {
      id: 'store',
      status: 'problem',
      detail: error instanceof Error ? error.message : String(error),
      fix: 'souk doctor --repair',
    }
  }
}

/** Disputes that do not end by themselves wait for whoever runs this. */
async function disputesCheck(session: Session): Promise<Check> {
  const query = { status: 'disputed', limit: String(DISPUTES_SHOWN) } as const
  const { jobs, total } = await session.call('listAllJobs', { query })
  const waiting = jobs.flatMap(({ dispute }) => (dispute?.decision?.by === 'operator' ? [dispute.opened_at] : []))
  const oldest = waiting.toSorted()[0]
  if (oldest === undefined) return { id: 'disputes', status: 'ok', detail: 'none waits for you' }
  const count = total > jobs.length ? `at least ${waiting.length}` : String(waiting.length)
  const detail = `${count} wait for your ruling, the oldest since ${oldest}`
  return { id: 'disputes', status: 'warning', detail, fix: 'souk admin jobs list --status disputed' }
}

async function runningChecks(context: Host): Promise<Check[]> {
  const session = await context.session()
  const health = await readHealth(session)
  const { crons } = briefOf(health)
  const failing = [...crons.failing, ...crons.stale]
  const skew = Math.abs(health.timestamp - context.system.now())
  const ahead = await businessAhead(session)
  const audit = await session.call('getAudit', {})
  const wrong = audit.checks.filter(({ ok }) => !ok).map(({ name }) => name)
  return [
    health.version === context.system.version
      ? { id: 'version', status: 'ok', detail: health.version }
      : {
          id: 'version',
          status: 'warning',
          detail: `the daemon is ${health.version}, this is ${context.system.version}`,
          fix: 'souk restart',
        },
    clockCheck(skew, ahead),
    failing.length === 0
      ? { id: 'crons', status: 'ok', detail: cronsDetail(crons) }
      : { id: 'crons', status: 'problem', detail: failing.join(', '), fix: 'souk logs --source cron --level error' },
    wrong.length === 0
      ? { id: 'books', status: 'ok', detail: `${audit.transactions} transactions add up` }
      : { id: 'books', status: 'problem', detail: wrong.join(', '), fix: 'souk money audit' },
    await disputesCheck(session),
  ]
}

function cronsDetail({ ok, waiting }: Brief['crons']): string {
  const ran = ok.length === 0 && waiting.length > 0 ? [] : [`${ok.length} ok`]
  return [...ran, ...(waiting.length === 0 ? [] : [`${waiting.length} not run yet`])].join(', ')
}

/** How far business time is ahead of wall time; 0 where nobody moved it. */
async function businessAhead(session: Session): Promise<number> {
  const { now, wall } = await session.call('getClock', {})
  return Date.parse(now) - Date.parse(wall)
}

function clockCheck(skew: number, ahead: number): Check {
  if (skew > CLOCK_SKEW_MAX_MS) {
    return { id: 'clock', status: 'warning', detail: `the daemon's differs by ${span(skew)} from this machine's` }
  }
  if (Math.abs(ahead) <= CLOCK_SKEW_MAX_MS) return { id: 'clock', status: 'ok', detail: 'agrees' }
  const detail = `agrees; business time was moved ${span(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'back'}`
  return { id: 'clock', status: 'warning', detail, fix: 'souk clock show' }
}
