import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import type { CommandContext } from '../cli/command.ts'
import type { RunningDaemon } from '../cli/door.ts'
import { CliError, exits, usage } from '../cli/exit.ts'
import { parseDuration } from '../cli/params.ts'
import { publicConfig, withoutDaemonSettings } from '../cli/public.ts'
import { type DaemonRegistration, register, unregister } from '../client/discover.ts'
import { writePrivate } from '../client/files.ts'
import { dropInstance } from '../client/secrets.ts'
import { makeFolder } from '../core/folder.ts'
import { compact } from '../core/record.ts'
import { EngineConfig } from '../model/engines/config.ts'
import type { Config } from '../model/start.ts'
import { beginStart, type StartUnderWay } from './begin.ts'
import type { OwnCertificate } from './certificate.ts'
import { chainConfig } from './chain-options.ts'
import {
  DEMO,
  facilitatorConfig,
  HOUSE,
  hostOf,
  keepLaunch,
  type Launch,
  moneyConfig,
  notifyOf,
  portOf,
  signerOf,
  storeOf,
} from './launch.ts'
import { openBoundedLog } from './log/bounded-log.ts'
import { boundHeapGrowth } from './memory.ts'
import { passphraseIn } from './passphrase.ts'
import { demoRefused } from './restore.ts'

/** Time limit for stopping: twice the limit for open responses, since crons and the store are stopped after them. */
export const STOP_MS = 20_000
/** How long open handles may keep the process alive after the end. */
const LINGER_MS = 500

type Context = Pick<CommandContext<unknown, Launch>, 'options' | 'places' | 'system' | 'signal'>
type Hooks = {
  onReady(registration: DaemonRegistration, notes: readonly string[]): Promise<void> | void
  logTo?: Writable
  /** Of encrypted key files (default: that of `--passphrase-fd`). */
  passphrase?: string | undefined
}

/**
 * Runs the daemon until a signal. Registers its start, creates it, reports it as ready, and cleans up at the end.
 * @throws errors of its creation; CliError `failure` if stopping takes longer than `STOP_MS`
 */
export async function runDaemon(given: Context, hooks: Hooks): Promise<DaemonRegistration> {
  boundHeapGrowth()
  const { options: typed } = given
  const inherited = compact({
    store: storeOf(given, typed),
    notify: notifyOf(given, typed),
    signer: signerOf(given, typed),
  })
  const host = { ...given, options: { ...typed, ...inherited } }
  const start = beginStart(host, host.options)
  try {
    start.report('program')
    return await runBegun(host, hooks, start)
  } finally {
    unregister(host.places, start.process)
  }
}

async function runBegun(host: Context, hooks: Hooks, start: StartUnderWay): Promise<DaemonRegistration> {
  const { options, places, system, signal } = host
  const dataDir = options.ephemeral ? mkdtempSync(join(system.tmpDir, 'souk-')) : makeFolder(places.data)
  const log = hooks.logTo ?? openBoundedLog(places.state)
  try {
    start.amend({ data_dir: dataDir })
    const { createDaemon } = await system.daemon()
    const certificate = options.tls
      ? await (await import('./certificate.ts')).ownCertificate({ dataDir, host: hostOf(options), now: system.now() })
      : undefined
    const daemon = await createDaemon(
      configOf(options, dataDir, { certificate, passphrase: hooks.passphrase ?? passphraseIn(options) }),
      {
        logTo: log,
        // After a failed write, the memory has changes that are not on disk, so exit.
        onFatal: (error) => fatal(system, error),
        onStep: start.report,
        async prepare(url) {
          start.amend({ url, ...compact({ fingerprint: certificate?.fingerprint }) })
          await seeded(host, dataDir, start)
        },
      },
    )
    const registration = await announced(host, hooks, { daemon, dataDir, certificate, start })
    if (!signal.aborted) await once(signal, 'abort')
    await stopInTime(host, daemon)
    writePrivate(join(places.state, 'last-stop'), `${new Date(system.now()).toISOString()} ${registration.url}\n`)
    return registration
  } finally {
    if (options.ephemeral) {
      rmSync(dataDir, { recursive: true, force: true })
      dropInstance(places, dataDir)
    }
    if (hooks.logTo === undefined) log.end()
    setTimeout(() => system.exit(process.exitCode === undefined ? 0 : Number(process.exitCode)), LINGER_MS).unref()
  }
}

/** Creates the demo history before serving. */
async function seeded(host: Context, dataDir: string, { report }: StartUnderWay): Promise<void> {
  if (host.options.seed !== DEMO) return
  report('history')
  const { seedDemo } = await import('../market/seed.ts')
  const outcome = await seedDemo({ ...host, onDay: (day, of) => report('history', `day ${day} of ${of}`) }, dataDir)
  if (outcome === 'in_use') throw demoRefused(host)
}

type Run = {
  readonly daemon: RunningDaemon
  readonly dataDir: string
  readonly certificate: OwnCertificate | undefined
  readonly start: StartUnderWay
}

/** Registers the daemon as serving and reports it as ready. If that fails, stops the daemon. */
async function announced(host: Context, hooks: Hooks, run: Run) {
  try {
    const registration = registerRun(host, run)
    const notes = run.daemon.notes ?? []
    for (const note of notes) host.system.stderr.write(`! ${note}\n`)
    await hooks.onReady(registration, notes)
    return registration
  } catch (error) {
    await stopInTime(host, run.daemon)
    throw error
  }
}

function fatal({ stderr, exit }: Context['system'], error: Error): never {
  stderr.write(`the store stopped: ${error.stack ?? error.message}\n`)
  return exit(exits.failure)
}

type Given = { readonly certificate: OwnCertificate | undefined; readonly passphrase: string | undefined }

function configOf(launch: Launch, dataDir: string, { certificate, passphrase }: Given): Config {
  const others = publicConfig(launch)
  return {
    dataDir,
    host: hostOf(launch),
    port: portOf(launch),
    ...chainConfig(launch, passphrase),
    profile: launch.profile,
    crons: launch.crons === 'on',
    durability: launch.ephemeral ? 'os' : 'full',
    logLevel: launch.logLevel,
    ...(launch.metricsOpen ? { metricsOpen: true } : {}),
    ...others,
    ...(certificate ? { tls: certificate, hosts: [...certificate.names, ...(others.hosts ?? [])] } : {}),
    ...moneyConfig(launch),
    ...facilitatorConfig(launch),
    ...compact({ engines: readEngines(launch), tickMs: parseDuration(launch.tick ?? '') }),
    // Without `--seed`, a new store gets the first-party services.
    ...(launch.seed === undefined ? { seedOfNew: HOUSE } : { seed: launch.seed }),
    ...compact({ bazaar: launch.bazaar, store: launch.store, rows: launch.rows, advertise: launch.advertise }),
    ...(launch.spare ? { spare: true } : {}),
    ...(launch.checkoutV2 === undefined ? {} : { checkoutV2: launch.checkoutV2 === 'on' }),
  }
}

function registerRun({ options, places, system }: Context, run: Run): DaemonRegistration {
  const { daemon, dataDir, certificate, start } = run
  const { url } = daemon
  const tls = certificate && { fingerprint: certificate.fingerprint, lan_url: lanUrl(url, certificate) }
  const { pid, started_at } = start.process
  const registration: DaemonRegistration = {
    state: 'serving',
    pid,
    started_at,
    url,
    instance_id: daemon.instanceId,
    version: system.version,
    data_dir: dataDir,
    chain: options.chain ?? 'sandbox',
    seed: daemon.seed,
    ...tls,
  }
  start.amend({}) // a start that was called off meanwhile does not come up
  register(places, registration)
  keepLaunch(places, withoutDaemonSettings(places, options))
  return registration
}

/** Local network address. */
function lanUrl(url: string, { name }: OwnCertificate): string {
  const { port } = new URL(url)
  return `https://${name.includes(':') ? `[${name}]` : name}:${port}`
}

async function stopInTime({ system }: Context, daemon: RunningDaemon): Promise<void> {
  const inTime = new AbortController()
  const late = system.sleep(STOP_MS, inTime.signal).then(() => inTime.signal.aborted)
  const stopped = daemon.stop().then(() => true)
  const done = await Promise.race([stopped, late])
  inTime.abort()
  if (!done) throw new CliError('failure', `The daemon did not stop within ${STOP_MS / 1_000} s.`)
}

/**
 * Reads the engines file, which may contain keys. Called before anything is started or stopped.
 * @returns undefined if no file is set.
 * @throws CliError usage that names the faulty member
 */
export function readEngines({ engines }: Pick<Launch, 'engines'>): EngineConfig | undefined {
  if (engines === undefined) return undefined
  const path = resolve(engines)
  const parsed = EngineConfig.safeParse(jsonIn(path))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new CliError('usage', `${path}: ${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'is not valid'}`, {
    facts: ['nothing was started'],
    next: ['fix the file, or omit --engines: services that need an engine are then not offered'],
  })
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw usage(`${path} is not JSON.`)
    throw usage(`${path} cannot be read.`)
  }
}
