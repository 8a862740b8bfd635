import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { CliError } from '../cli/exit.ts'
import type { Progress } from '../cli/io.ts'
import { PORT_MAX } from '../cli/public.ts'
import {
  type DaemonRegistration,
  findDaemon,
  isLive,
  probe,
  register,
  registeredDaemon,
  type StartRegistration,
  unregister,
} from '../client/discover.ts'
import { processWork } from '../client/process.ts'
import { makeFolder } from '../core/folder.ts'
import { compact } from '../core/record.ts'
import { startWords } from '../model/start.ts'
import { ChildWord, firstRegistration, whileLocked } from './begin.ts'
import { joinStart, LOOK_MS, patienceWith, SILENCE_MS, type StartHost, timedOut } from './join.ts'
import { hostOf, type Launch, launchWords, portOf, type Typed } from './launch.ts'
import { logFile, outputFile } from './log/bounded-log.ts'
import { memoryVariables } from './memory.ts'
import { passphraseFor } from './passphrase.ts'
import { type PortOwner, portOwner } from './port-owner.ts'
import { readEngines } from './run.ts'
import { GRACE_MS, instancesBeside, stopDaemon } from './stop.ts'

const OUTPUT_LINES_SHOWN = 5
const PRIVATE_FILE_MODE = 0o600
/** How long a daemon whose start makes no progress may take to exit after SIGTERM. */
const STUCK_GRACE_MS = 5_000

/** Environment variables that the daemon gets. Others, such as tokens, proxies and shell state, are not passed on. */
const KEPT_VARIABLES =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SystemRoot|XDG_\w+|SOUK_(CONFIG_DIR|DATA_DIR|INSTANCE|STORE)|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_\w+)$/

/** A daemon that waits while another one has the database. */
export type Waiting = { readonly waiting: StartRegistration }
export type Started = {
  readonly registration: DaemonRegistration
  readonly alreadyRunning: boolean
  readonly recovered: boolean
  readonly notes: readonly string[]
}

/**
 * Starts the daemon in the background. Leaves a running daemon as it is. Waits for a start by another command.
 * @param said - the typed options, which that start must have, too
 * @throws CliError that states the owner of a taken port, the fault in the engines file, or the child's last output
 */
export async function startDaemon(host: StartHost, launch: Launch, said: Typed = {}): Promise<Started | Waiting> {
  readEngines(launch)
  const { places } = host
  const found = await findDaemon(places)
  if (found.state === 'unresponsive') {
    throw new CliError('failure', `The daemon (pid ${found.registration.pid}) is running, but does not respond.`, {
      facts: [`registered at ${found.registration.url}`],
      next: ['souk logs --tail 50', 'souk restart'],
    })
  }
  const passphrase = isLive(registeredDaemon(places)) ? undefined : await passphraseFor(host, launch)
  const begun = whileLocked(places, () => begin(host, launch, passphrase))
  if (!('child' in begun)) {
    if (begun.other.state === 'starting' && isFront(begun.other)) return { waiting: begun.other }
    const registration = await joinStart(host, begun.other, said)
    return { registration, alreadyRunning: true, recovered: false, notes: [] }
  }
  const progress = host.io.progress(startWords({ step: 'launch' }))
  try {
    const word = await waitFor(host, begun.child, progress)
    const found = registeredDaemon(places)
    if (word.kind === 'step' && found.state === 'starting') return { waiting: found.registration }
    if (word.kind === 'failed') throw await failureOf(launch, word, host)
    return {
      registration: served(host),
      alreadyRunning: false,
      recovered: begun.recovered === true,
      notes: 'notes' in word ? word.notes : [],
    }
  } finally {
    progress.stop()
    begun.child.removeAllListeners()
    if (begun.child.connected) begun.child.disconnect()
    begun.child.unref()
  }
}

/** A front as `up` and `restart` show it. */
export function shownFront({ waiting: { pid, url = '', started_at, version, detail = '' } }: Waiting) {
  return { state: 'front' as const, url, pid, started_at, version, waits_for: detail }
}

/** Returns the live daemon, if there is one. Otherwise spawns one and registers it immediately. */
function begin(host: StartHost, launch: Launch, passphrase: string | undefined) {
  const { places } = host
  const found = registeredDaemon(places)
  if (isLive(found)) return { other: found.registration }
  const child = spawnChild(host, launch, passphrase)
  // Without a pid the child never started; its `error` event says why.
  if (child.pid !== undefined) register(places, firstRegistration(host, { launch, pid: child.pid }))
  return { child, recovered: found.state === 'stale' }
}

function spawnChild({ places, system }: StartHost, { passphraseFd: _, ...launch }: Launch, passphrase?: string) {
  const [program, ...first] = system.self
  const output = openSync(outputFile(makeFolder(places.state)), 'w', PRIVATE_FILE_MODE)
  const words = [
    ...first,
    'daemon',
    'serve',
    ...launchWords({ ...launch, ...(passphrase === undefined ? {} : { passphraseFd: 0 }) }),
    `--instance=${places.instance}`,
  ]
  try {
    const child = spawn(
      program,
      [...words, ...(places.chosenData === undefined ? [] : [`--data=${places.chosenData}`])],
      {
        cwd: '/',
        detached: true,
        env: {
          ...Object.fromEntries(Object.entries(system.env).filter(([name]) => KEPT_VARIABLES.test(name))),
          ...memoryVariables,
          ...compact({ SOUK_STORE: launch.store, SOUK_SIGNER: launch.signer }),
          SOUK_NOTIFY: launch.notify.join('\n'),
        },
        stdio: [passphrase === undefined ? 'ignore' : 'pipe', output, output, 'ipc'],
      },
    )
    child.stdin?.on('error', () => undefined) // it may have failed before it read
    child.stdin?.end(passphrase)
    return child
  } finally {
    closeSync(output)
  }
}

type Ended = ChildWord
const isFront = ({ step }: { readonly step: string }): boolean => step === 'front'

/** Waits while the child makes progress. Ctrl-c stops the child; `--timeout` only ends the wait. */
async function waitFor(host: StartHost, child: ChildProcess, progress: Progress): Promise<Ended> {
  const { system, places, signal } = host
  const patience = patienceWith(system.now, () => (child.pid === undefined ? undefined : processWork(child.pid)))
  const isOver = timedOut(host)
  let words = startWords({ step: 'launch' })
  let ended: Ended | undefined
  const settled = new AbortController()
  const end = (word: Ended) => {
    ended ??= word
    settled.abort()
  }
  child.on('message', (message) => {
    const word = ChildWord.parse(message)
    if (word.kind !== 'step' || isFront(word)) return end(word)
    patience.progress()
    words = startWords(word)
    progress.update(words)
  })
  child.once('error', (error) => end(failed(error.message)))
  child.once('exit', (code, by) => end(endedEarly(code ?? by ?? 'unknown', outputFile(places.state))))
  signal.addEventListener('abort', () => settled.abort(), { once: true, signal: settled.signal })
  for (;;) {
    await system.sleep(LOOK_MS, settled.signal)
    if (ended !== undefined) return ended
    if (signal.aborted) {
      await stopDaemon(host, { graceMs: GRACE_MS, force: false })
      throw new CliError('interrupted', 'Interrupted by ctrl-c: nothing was started.')
    }
    if (isOver()) throw stillStarting(child, words)
    if (patience.look()) continue
    await stopDaemon(host, { graceMs: STUCK_GRACE_MS, force: false })
    return failed(`The start made no progress for ${SILENCE_MS / 1_000} s (${words}) and was stopped.`)
  }
}

function stillStarting({ pid }: ChildProcess, words: string): CliError {
  return new CliError('pending', `The daemon is still starting (pid ${pid}): ${words}.`, {
    facts: ['the start continues in the background'],
    next: ['souk status', 'souk up', 'souk down'],
  })
}

function failed(sentence: string, facts: readonly string[] = []): Extract<Ended, { kind: 'failed' }> {
  const next = ['souk logs --tail 50', 'souk up --foreground']
  return { kind: 'failed', cause: null, exit: 'failure', sentence, facts: [...facts], next }
}

function endedEarly(how: number | string, file: string): Ended {
  const said = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-OUTPUT_LINES_SHOWN) : []
  return failed(
    `The daemon exited before it was ready (${how}).`,
    said.filter((line) => line !== ''),
  )
}

/** The error that the child reported, with the path of the log. If the child has exited, removes its registration. */
async function failureOf(launch: Launch, word: Extract<Ended, { kind: 'failed' }>, host: StartHost) {
  const { places, io } = host
  const found = registeredDaemon(places)
  if (found.state === 'stale') unregister(places, found.registration)
  if (word.cause === 'EADDRINUSE') return portTaken(host, launch)
  const { exit, sentence, facts, next } = word
  return new CliError(exit, sentence, { facts: [...facts, `log: ${io.path(logFile(places.state))}`], next })
}

/** The registration that the child wrote. @throws CliError `failure` if the child has exited */
function served({ places }: StartHost): DaemonRegistration {
  const found = registeredDaemon(places)
  if (found.state === 'running') return found.registration
  throw new CliError('failure', 'The daemon reported ready, then exited.', { next: ['souk logs --tail 50'] })
}

/** The error for a port that is taken: it names the process that has the port, and the next commands. */
async function portTaken(host: StartHost, launch: Launch): Promise<CliError> {
  const port = portOf(launch)
  const owner = portOwner(port)
  const next = ['souk up --port 0', `souk up --port ${port < PORT_MAX ? port + 1 : port - 1}`]
  const beside = instancesBeside(host).find((one) => {
    const found = registeredDaemon(one)
    return 'registration' in found && found.registration.pid === owner?.pid
  })
  if (beside !== undefined) {
    return new CliError('failure', `Port ${port} is used by the souk instance "${beside.instance}"${named(owner)}.`, {
      next: [...next, `souk status --instance ${beside.instance}`],
    })
  }
  const instance = await probe({ url: urlOf(launch) })
  if (instance !== undefined) {
    return new CliError('failure', `Port ${port} is used by another souk daemon${named(owner)}.`, {
      facts: [`its instance id is ${instance}, not the id of this instance`],
      next: [...next, `souk status --base-url ${urlOf(launch)}`],
    })
  }
  return new CliError('failure', `Port ${port} is used by another program${named(owner)}.`, {
    facts: [
      'it is not a souk daemon (its /health has no instance id)',
      ...(owner === undefined ? ['its owner is unknown'] : []),
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
  const port = portOf(launch)
  const host = hostOf(launch)
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
