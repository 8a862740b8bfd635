import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import type { CommandContext } from '../cli/command.ts'
import { CliError } from '../cli/exit.ts'
import { type DaemonRegistration, type FoundDaemon, findDaemon, probe, unregister } from '../client/discover.ts'
import { privateDir } from '../client/files.ts'
import { outputFile } from './bounded-log.ts'
import { ChildWord, LOCKED } from './child-word.ts'
import { readEngines } from './engines-file.ts'
import { hostOf, type Launch, launchWords, PORT_MAX } from './launch.ts'
import { memoryVariables } from './memory.ts'
import { type PortOwner, portOwner } from './port-owner.ts'

const START_TIMEOUT_MS = 60_000
/** How long a quicker `up` may take from its hold on port or data to its registration. */
const RACE_WAIT_MS = 3_000
const RACE_POLL_MS = 50
const OUTPUT_LINES_SHOWN = 5
const PRIVATE_FILE_MODE = 0o600

/** What the daemon keeps of the caller's environment; the rest (tokens, proxies, shell state) stays behind. */
const KEPT_VARIABLES =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SystemRoot|XDG_\w+|SOUK_(CONFIG_DIR|DATA_DIR|INSTANCE)|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_\w+)$/

type Host = Pick<CommandContext<unknown, unknown>, 'places' | 'system' | 'globals' | 'io' | 'signal'>
export type Started = {
  readonly registration: DaemonRegistration
  readonly alreadyRunning: boolean
  readonly recovered: boolean
  /** What the daemon found at its start. */
  readonly notes: readonly string[]
}

/**
 * Brings the instance's daemon up, detached; does nothing when it runs already.
 * @throws CliError naming whoever holds the port, what of the engines file is wrong, or what the child said before it ended.
 */
export async function startDaemon(host: Host, launch: Launch): Promise<Started> {
  readEngines(launch)
  const found = await findDaemon(host.places)
  if (found.state === 'running')
    return { registration: found.registration, alreadyRunning: true, recovered: false, notes: [] }
  if (found.state === 'unresponsive') {
    throw new CliError('failure', `The daemon (pid ${found.registration.pid}) runs, but does not answer.`, {
      facts: [`registered at ${found.registration.url}`],
      next: ['souk logs --tail 50', 'souk restart'],
    })
  }
  if (found.state === 'stale') unregister(host.places, found.registration)
  const word = await startChild(host, launch)
  const now = word.kind === 'failed' ? await winner(host, word, launch) : await findDaemon(host.places)
  if (now.state === 'running') {
    return {
      registration: now.registration,
      // Another `up` was quicker: its daemon holds the data or the port that ours wanted.
      alreadyRunning: word.kind === 'failed',
      recovered: found.state === 'stale',
      notes: word.kind === 'ready' ? word.notes : [],
    }
  }
  if (word.kind === 'failed' && word.cause === 'EADDRINUSE') throw await portTaken(launch)
  if (word.kind === 'failed') throw new CliError('failure', word.sentence, { facts: word.facts, next: word.next })
  throw new CliError('failure', 'The daemon said it was ready, and then did not answer.', {
    next: ['souk logs --tail 50'],
  })
}

/**
 * The daemon of another `up` that was quicker: it holds the data or the port, and may still be about to register.
 * Waited for only where what stopped ours can be such a one.
 */
async function winner(host: Host, word: ChildWord, launch: Launch): Promise<FoundDaemon> {
  const cause = word.kind === 'failed' ? word.cause : null
  const plausible = cause === LOCKED || (cause === 'EADDRINUSE' && (await probe({ url: urlOf(launch) })) !== undefined)
  for (let waited = 0; plausible && waited < RACE_WAIT_MS; waited += RACE_POLL_MS) {
    const found = await findDaemon(host.places)
    if (found.state === 'running') return found
    await host.system.sleep(RACE_POLL_MS)
  }
  return findDaemon(host.places)
}

async function startChild({ places, system, globals, io, signal }: Host, launch: Launch): Promise<ChildWord> {
  const [program, ...first] = system.self
  const output = openSync(outputFile(privateDir(places.state)), 'w', PRIVATE_FILE_MODE)
  const words = [...first, 'daemon', 'serve', ...launchWords(launch), `--instance=${places.instance}`]
  const child = spawn(
    program,
    [...words, ...(places.chosenData === undefined ? [] : [`--data=${places.chosenData}`])],
    {
      cwd: '/',
      detached: true,
      env: { ...keptOf(system.env), ...memoryVariables },
      stdio: ['ignore', output, output, 'ipc'],
    },
  )
  closeSync(output)
  const progress = io.progress('starting the daemon')
  const settled = new AbortController()
  try {
    const word = new Promise<ChildWord>((resolve, reject) => {
      child.once('message', (message) => resolve(ChildWord.parse(message)))
      child.once('error', reject)
      child.once('exit', (code, by) => resolve(endedEarly(code ?? by ?? 'unknown', outputFile(places.state))))
      signal.addEventListener('abort', () => reject(new CliError('interrupted', 'Ended by ctrl-c.')), {
        once: true,
        signal: settled.signal,
      })
    })
    const timeoutMs = globals.timeoutMs ?? START_TIMEOUT_MS
    const late = system.sleep(timeoutMs, settled.signal).then(() => tooSlow(child.pid, timeoutMs))
    return await Promise.race([word, late])
  } finally {
    settled.abort()
    progress.stop()
    child.removeAllListeners()
    if (child.connected) child.disconnect()
    child.unref()
  }
}

function keptOf(env: Host['system']['env']): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => KEPT_VARIABLES.test(name)))
}

function endedEarly(how: number | string, file: string): ChildWord {
  const said = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-OUTPUT_LINES_SHOWN) : []
  return {
    kind: 'failed',
    cause: null,
    sentence: `The daemon ended before it was ready (${how}).`,
    facts: said.filter((line) => line !== ''),
    next: ['souk logs --tail 50', 'souk up --foreground'],
  }
}

function tooSlow(pid: number | undefined, timeoutMs: number): ChildWord {
  return {
    kind: 'failed',
    cause: null,
    sentence: `The daemon was not ready within ${timeoutMs / 1_000} s; it still starts as pid ${pid ?? 'unknown'}.`,
    facts: [],
    next: ['souk status', 'souk logs -f'],
  }
}

/** Who holds the port, and the ways out. */
async function portTaken(launch: Launch): Promise<CliError> {
  const owner = portOwner(launch.port)
  const instance = await probe({ url: urlOf(launch) })
  const next = ['souk up --port 0', `souk up --port ${launch.port < PORT_MAX ? launch.port + 1 : launch.port - 1}`]
  if (instance !== undefined) {
    return new CliError('failure', `Port ${launch.port} is used by another souk daemon${named(owner)}.`, {
      facts: [`its instance id is ${instance}; it is not the one of this instance`],
      next: [...next, `souk status --base-url ${urlOf(launch)}`],
    })
  }
  return new CliError('failure', `Port ${launch.port} is used by another program${named(owner)}.`, {
    facts: [
      'it is not a souk daemon (its /health names no instance)',
      ...(owner === undefined ? ['whose it is cannot be seen from here'] : []),
    ],
    next,
  })
}

function named(owner: PortOwner | undefined): string {
  if (owner === undefined) return ''
  const started = owner.startedMs === undefined ? '' : `, started ${new Date(owner.startedMs).toISOString()}`
  return `: ${owner.program} (pid ${owner.pid}${started})`
}

function urlOf(launch: Launch): string {
  const { port } = launch
  const host = hostOf(launch)
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
