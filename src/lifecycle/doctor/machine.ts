import { accessSync, chmodSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { colorsAllowed } from '../../cli/io.ts'
import { DEFAULT_PORT } from '../../cli/public.ts'
import { openSession } from '../../cli/session.ts'
import { checkCredentials } from '../../cli/wallet/kept-credentials.ts'
import { type FoundDaemon, isLive, probe, unregister } from '../../client/discover.ts'
import { readText } from '../../client/files.ts'
import { listRemotes } from '../../client/remotes.ts'
import { readSettings } from '../../client/settings.ts'
import { attempt } from '../../core/error.ts'
import { compact } from '../../core/record.ts'
import { byteSize, shellWord } from '../../text/text.ts'
import { lastLaunch } from '../launch.ts'
import { portOwner } from '../port-owner.ts'
import { type Diagnosis, type Examination, type Examined, fine } from './check.ts'

const NODE_FLOOR = [22, 13] as const
const OTHERS_MAY = 0o077
const LEAST_COLUMNS = 60
const DISK_LOW_BYTES = 1024 ** 3
const DISK_FULL_BYTES = 100 * 1024 ** 2
const DEVNET_LARGE_BYTES = 200 * 1024 ** 2
const START_FILES = ['.bashrc', '.zshrc', '.config/fish/config.fish'] as const

/** Checks that need no daemon. */
export const machineProbes: readonly Examination[] = [
  { id: 'node', look: ({ system }) => nodeOf(system.node) },
  { id: 'terminal', look: terminalOf },
  { id: 'config', look: configOf },
  { id: 'secrets', look: ({ places }) => modeOf(join(places.config, 'secrets.json')) },
  { id: 'wallets', look: ({ places }) => modeOf(join(places.config, 'wallets')) },
  { id: 'cache', look: cacheOf },
  { id: 'completion', look: completionOf },
  { id: 'remotes', look: remotesOf },
  { id: 'disk', look: diskOf },
  { id: 'devnet', look: devnetOf },
  { id: 'lock', look: lockOf },
  { id: 'port', look: portOf },
]

function nodeOf(version: string): Diagnosis {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isRecent = major > NODE_FLOOR[0] || (major === NODE_FLOOR[0] && minor >= NODE_FLOOR[1])
  return isRecent ? fine(version) : { status: 'problem', detail: `${version} is older than ${NODE_FLOOR.join('.')}` }
}

function terminalOf({ io, system: { env, stdout } }: Examined): Diagnosis {
  if (!io.isTty) return fine('no terminal: the output is for programs')
  const columns = stdout.columns ?? 0
  const facts = [
    `${columns} columns`,
    env.TERM ?? 'no TERM',
    ...(env.TMUX ? ['tmux'] : []),
    ...(colorsAllowed(env) ? [] : ['no colors']),
  ]
  const isPoor = columns < LEAST_COLUMNS || env.TERM === 'dumb'
  return {
    status: isPoor ? 'warning' : 'ok',
    detail: `${facts.join(', ')}${isPoor ? ': not enough for the cockpit' : ''}`,
  }
}

function configOf({ places }: Examined): Diagnosis {
  try {
    readSettings(places)
    listRemotes(places)
    return fine(places.config)
  } catch (error) {
    return {
      status: 'problem',
      detail: error instanceof Error ? error.message : String(error),
      fix: 'souk config path',
    }
  }
}

function modeOf(path: string): Diagnosis {
  if (!existsSync(path)) return fine('none yet')
  const all = statSync(path).isDirectory() ? [path, ...readdirSync(path).map((name) => join(path, name))] : [path]
  const open = all.filter((one) => (statSync(one).mode & OTHERS_MAY) !== 0)
  if (open.length === 0) return fine('readable only by you')
  return {
    status: 'problem',
    detail: `${open[0]} is readable by others`,
    fix: `chmod -R go= ${shellWord(path)}`,
    async mend() {
      for (const one of open) chmodSync(one, statSync(one).mode & ~OTHERS_MAY)
      return `${path} is now readable only by you`
    },
  }
}

function cacheOf({ system: { env } }: Examined): Diagnosis {
  const root = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : undefined)
  if (root === undefined) return fine('none: there is no home folder')
  const place = [join(root, 'souk', 'compile'), join(root, 'souk'), root, dirname(root)].find((one) => existsSync(one))
  try {
    accessSync(place ?? root, constants.W_OK)
    return fine(join(root, 'souk'))
  } catch {
    return { status: 'warning', detail: `${place ?? root} is not writable: every start compiles again` }
  }
}

function completionOf({ system: { env } }: Examined): Diagnosis {
  const files = START_FILES.filter((name) => readText(join(env.HOME ?? '', name))?.includes('souk completion'))
  return fine(files.length === 0 ? 'not installed' : `in ${files.join(', ')}`)
}

/** Whether the remotes respond, and accept the credentials that are saved for them. */
async function remotesOf(host: Examined): Promise<Diagnosis> {
  // The check `config` reports unreadable files.
  const remotes = attempt(() => listRemotes(host.places)) ?? []
  const asked = await Promise.all(
    remotes.map(async ({ name, url, fingerprint }) => {
      const isThere = (await probe(compact({ url, fingerprint }))) !== undefined
      return { name, wrong: isThere ? await refusedAt(host, name) : 'does not answer' }
    }),
  )
  const wrong = asked.filter((one) => one.wrong !== undefined)
  const [first] = wrong
  if (first === undefined) return fine(remotes.length === 0 ? 'none' : `${remotes.length} answer`)
  return {
    status: 'warning',
    detail: wrong.map((one) => `${one.name} ${one.wrong}`).join('; '),
    fix: `souk remote check ${shellWord(first.name)}`,
  }
}

/** Names the credentials that a remote rejects, or says that they cannot be checked; undefined if it accepts all. */
async function refusedAt(host: Examined, remote: string): Promise<string | undefined> {
  const { baseUrl: _instead, ...globals } = host.globals
  try {
    const checks = await checkCredentials(await openSession({ ...host, globals: { ...globals, remote } }))
    const refused = checks.filter(({ status }) => status === 'problem').map(({ id }) => `the ${id}`)
    return refused.length === 0 ? undefined : `rejects ${refused.join(' and ')}`
  } catch {
    return 'cannot be checked'
  }
}

function diskOf({ places }: Examined): Diagnosis {
  const place = [places.data, dirname(places.data), dirname(dirname(places.data))].find((one) => existsSync(one))
  if (place === undefined) return fine('nothing is saved yet')
  const { bavail, bsize } = statfsSync(place)
  const free = bavail * bsize
  const detail = `${byteSize(free)} free at ${place}`
  if (free < DISK_FULL_BYTES) return { status: 'problem', detail }
  return free < DISK_LOW_BYTES ? { status: 'warning', detail } : fine(detail)
}

/** Checks how large the files of the devnet's chain are, since every start reads them. */
function devnetOf({ places }: Examined): Diagnosis {
  const folder = join(places.data, 'chain')
  if (!existsSync(folder)) return fine('none')
  const bytes = readdirSync(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0)
  const detail = `${byteSize(bytes)} in ${folder}`
  if (bytes < DEVNET_LARGE_BYTES) return fine(detail)
  return { status: 'warning', detail: `${detail}: the devnet is large and starts slowly; souk reset starts over` }
}

/** Size of a file; 0 if it has vanished. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** Finds the registration of a dead daemon, whose lock ended with its process. */
function lockOf({ places }: Examined, found: FoundDaemon): Diagnosis {
  if (found.state === 'absent') return fine('no daemon uses the data')
  const { pid, started_at: since } = found.registration
  if (found.state !== 'stale') return fine(`pid ${pid}, since ${since}`)
  return {
    status: 'problem',
    detail: `pid ${pid} is registered but not running: it crashed or was killed`,
    fix: 'souk doctor --fix --only lock',
    async mend() {
      unregister(places, found.registration)
      return `the registration of pid ${pid} was removed`
    },
  }
}

function portOf({ places }: Examined, found: FoundDaemon): Diagnosis {
  const url = isLive(found) ? found.registration.url : undefined
  const isOurs = url !== undefined
  const port = isOurs ? Number(new URL(url).port) : (lastLaunch(places).port ?? DEFAULT_PORT)
  if (port === 0) return fine('chosen by the system at each start')
  const owner = portOwner(port)
  if (owner === undefined) return fine(isOurs ? `${port} answers` : `${port} is free`)
  if (isLive(found) && owner.pid === found.registration.pid)
    return fine(`${port} is used by pid ${owner.pid}, as registered`)
  const detail = `${port} is used by ${owner.program} (pid ${owner.pid})`
  return isOurs
    ? { status: 'problem', detail: `${detail}, not by the daemon`, fix: 'souk restart' }
    : { status: 'warning', detail, fix: 'souk up --port 0' }
}
