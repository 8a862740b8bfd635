import { type CommandContext, defineCommand, watchOptions } from '../src/cli/command.ts'
import type { Io } from '../src/cli/io.ts'
import { type Brief, briefOf, readHealth } from '../src/cli/nouns/health.ts'
import * as z from '../src/cli/params.ts'
import { lastCleanStop } from '../src/cli/target.ts'
import { type FoundDaemon, findDaemon, frontOf } from '../src/client/discover.ts'
import { isLocal } from '../src/lifecycle/restore.ts'
import { startWords } from '../src/model/start.ts'
import { bold, cyan, dim, green, red, span, yellow } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'status',
  heading: 'Daemon',
  summary: 'show whether the daemon runs, and its state',
  options: z.object({ exitStatus: z.flag({ description: 'exit with code 10 if it is not running' }), ...watchOptions }),
  examples: ['souk status', 'souk status --exit-status', 'souk status --json'],
  async run(context) {
    const found = isLocal(context) ? await localStatus(context) : await remoteStatus(context)
    const status = { ...found, next: found.next === null ? null : context.io.hint(found.next) }
    if (context.options.exitStatus && !['running', 'front'].includes(status.state)) context.exit('no_daemon')
    return status
  },
  view(status, io) {
    io.line(headline(status))
    for (const line of status.state === 'running' ? runningLines(status, io) : []) io.line(`  ${line}`)
    if (status.note !== null) io.line(`  ${status.state === 'running' ? `${yellow('!')} ` : ''}${status.note}`)
    if (status.next !== null) io.line(`  ${cyan(`→ ${status.next}`)}`)
  },
})

function runningLines({ platform, crons, data_dir, store }: Status, io: Io): string[] {
  const paused = platform?.paused ? yellow('‖ paused') : 'live'
  return [
    ...(platform
      ? [
          `platform  ${paused}    checkout_v2 ${platform.checkout_v2 ? 'on' : 'off'}    chain ${chainWords(platform.chain)}`,
        ]
      : []),
    ...(crons ? [`crons     ${cronLine(crons)}`] : []),
    ...(data_dir === null ? [] : [`data      ${io.path(data_dir)}`]),
    ...(store?.note ? [`store     ${yellow('!')} ${store.note}`] : []),
  ]
}

/** Real money is always marked. */
function chainWords(chain: string): string {
  return chain === 'base' ? yellow('base: REAL MONEY') : chain
}

type Status = {
  state: 'running' | 'front' | 'starting' | 'stopped' | 'crashed' | 'unresponsive'
  url: string | null
  pid: number | null
  started_at: string | null
  uptime_seconds: number | null
  version: string | null
  cli_version: string
  data_dir: string | null
  platform: Brief['platform'] | null
  crons: Brief['crons'] | null
  store: Brief['store']
  /** Progress of a daemon that starts; null otherwise. */
  start: { readonly step: string; readonly detail: string | null; readonly since: string } | null
  last_stop: string | null
  note: string | null
  next: string | null
}

type Context = CommandContext<unknown, unknown>

async function localStatus(context: Context): Promise<Status> {
  const { places, system } = context
  const found = await findDaemon(places)
  const blank = blankStatus(context)
  if (found.state === 'absent') {
    const at = lastCleanStop(places)
    const note =
      at === undefined ? 'no daemon has run here yet' : `the daemon was stopped ${span(system.now() - at)} ago, cleanly`
    return {
      ...blank,
      state: 'stopped',
      last_stop: at === undefined ? null : new Date(at).toISOString(),
      note,
      next: 'souk up',
    }
  }
  const base = { ...blank, ...registered(found, system.now()) }
  if (found.state === 'starting') {
    const { step, detail = null, since } = found.registration
    const note = `${startWords(found.registration)}, for ${span(system.now() - Date.parse(since))}`
    if (frontOf(found)) return { ...base, state: 'front', note }
    return { ...base, state: 'starting', start: { step, detail, since }, note, next: 'souk up' }
  }
  if (found.state === 'stale') {
    const note = `pid ${base.pid} crashed or was killed; the data is safe`
    return { ...base, state: 'crashed', uptime_seconds: null, note, next: 'souk restart' }
  }
  if (found.state === 'unresponsive') {
    return { ...base, state: 'unresponsive', note: `${base.url} does not answer`, next: 'souk restart' }
  }
  const { platform, crons, store } = briefOf(await readHealth(await context.session()))
  const skewed =
    base.version === system.version
      ? { note: null, next: null }
      : { note: `the daemon is ${base.version}, this command is ${system.version}`, next: 'souk restart' }
  return { ...base, state: 'running', platform, crons, store, ...skewed }
}

function blankStatus({ system }: Context): Omit<Status, 'state'> {
  return {
    url: null,
    pid: null,
    started_at: null,
    uptime_seconds: null,
    version: null,
    cli_version: system.version,
    data_dir: null,
    platform: null,
    crons: null,
    store: null,
    start: null,
    last_stop: null,
    note: null,
    next: null,
  }
}

function registered(found: Exclude<FoundDaemon, { state: 'absent' }>, now: number) {
  const { url = null, pid, started_at, version, data_dir } = found.registration
  return { url, pid, started_at, version, data_dir, uptime_seconds: Math.floor((now - Date.parse(started_at)) / 1_000) }
}

async function remoteStatus(context: Context): Promise<Status> {
  const session = await context.session()
  const brief = briefOf(await readHealth(session))
  return { ...blankStatus(context), ...brief, state: 'running', url: session.target.url }
}

const signs: Readonly<Record<Status['state'], (text: string) => string>> = {
  running: (text) => green(`● ${text}`),
  front: (text) => green(`● ${text}`),
  starting: (text) => yellow(`◌ ${text}`),
  stopped: (text) => `○ ${text}`,
  crashed: (text) => red(`✗ ${text}`),
  unresponsive: (text) => red(`✗ ${text}`),
}

function headline({ state, url, pid, uptime_seconds, version }: Status): string {
  const parts = [
    signs[state](state),
    ...(url === null || state === 'crashed' ? [] : [bold(url)]),
    ...(pid === null || state === 'crashed' ? [] : [`pid ${pid}`]),
    ...(uptime_seconds === null ? [] : [`up ${span(uptime_seconds * 1_000)}`]),
    ...(version === null ? [] : [dim(`v${version}`)]),
  ]
  return parts.join('   ')
}

function cronLine(crons: Brief['crons']): string {
  const named = (names: readonly string[], word: string, tint: (text: string) => string) =>
    names.length === 0 ? [] : [`${tint(`${names.length} ${word}`)} (${names.join(', ')})`]
  return [
    ...(crons.ok.length === 0 && crons.waiting.length > 0 ? [] : [`${crons.ok.length} ok`]),
    ...(crons.waiting.length === 0 ? [] : [`${crons.waiting.length} not run yet`]),
    ...named(crons.stale, 'stale', yellow),
    ...named(crons.failing, 'failing', red),
  ].join(', ')
}
