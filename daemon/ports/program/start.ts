import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { SECOND_MS } from '../../../src/core/time.ts'
import { killGroup, type ProcessOrder, spawnHere } from './spawn.ts'

const BYTES_A_KB = 1_024
/** Fields of /proc/PID/stat after the name in parentheses: state, parent, group. */
const GROUP_FIELD = 2
const LOOK_EVERY_MS = SECOND_MS / 4
/** Which processes there are of other groups is remembered for so many looks: numbers are given out again. */
const LOOKS_KEPT = 8

/**
 * Tells the memory of a process group in bytes, what its processes share counted once (PSS), a few times a second; never
 * where the system does not say it. Files of the kernel are read in place: they come from memory, and a thread for each
 * would cost more than they do.
 */
export function watchMemory(group: number, tell: (bytes: number) => void): { readonly stop: () => void } {
  const others = new Set<string>()
  let looks = 0
  const look = () => {
    if (looks % LOOKS_KEPT === 0) others.clear()
    looks += 1
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !others.has(name))
    tell(pids.reduce((sum, pid) => sum + sizeIn(pid, group, others), 0))
  }
  const timer = process.platform === 'linux' ? setInterval(look, LOOK_EVERY_MS).unref() : undefined
  return { stop: () => clearInterval(timer) }
}

function sizeIn(pid: string, group: number, others: Set<string>): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[GROUP_FIELD]) !== group) {
      others.add(pid)
      return 0
    }
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * BYTES_A_KB
  } catch {
    return 0 // it ended meanwhile
  }
}

/** A process that runs, or ran. */
export type StartedProcess = {
  readonly pid: number
  /** By descriptor, as it was ordered. */
  readonly input: (descriptor: number) => Writable
  readonly output: (descriptor: number) => Readable
  /** Its exit code; null where a signal ended it. */
  readonly exited: Promise<number | null>
  /** It ended, and everything that it said was read. */
  readonly closed: Promise<void>
  /** Hears what its group takes of memory, in bytes, a few times a second. */
  readonly onMemory: (listener: (bytes: number) => void) => void
}

export type Starter = {
  /** @throws Error where it cannot be started. */
  readonly start: (order: ProcessOrder) => Promise<StartedProcess>
  /** The process that starts others, while there is one. */
  readonly helper: () => number | undefined
}

/** What the process that starts others is asked, and what it says. No `data`: that was all of it. */
export type StarterAsk =
  | { readonly id: number; readonly order: ProcessOrder }
  | { readonly id: number; readonly descriptor: number; readonly data?: Uint8Array | string }
export type StarterReply =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly failed: string }
  | { readonly id: number; readonly descriptor: number; readonly data?: Uint8Array }
  | { readonly id: number; readonly bytes: number }
  | { readonly id: number; readonly exited: number | null }
  | { readonly id: number; readonly closed: true }

/**
 * Linux copies the page tables of a process that starts another, while everything in it stands still: 40 to 270 ms were
 * measured at 600 MB, 3 ms of a small one. So a daemon that has grown has a small process start its programs.
 */
const SMALL_BYTES = 192 * 1024 * 1024
const IDLE_MS = 30 * SECOND_MS
/** As one file with its Node, the program has no module that another process could be started with. */
const hasHelper = () => process.platform === 'linux' && !process.getBuiltinModule('node:sea').isSea()

/** @param smallBytes up to which it starts them itself; nothing is gained by a helper but on Linux. */
export function openStarter({ smallBytes = SMALL_BYTES, idleMs = IDLE_MS } = {}): Starter {
  let helper: Helper | undefined
  let timer: NodeJS.Timeout | undefined

  function rest(): void {
    clearTimeout(timer)
    timer = setTimeout(() => helper?.end(), idleMs).unref()
  }

  function open(): Helper {
    const opened = openHelper({
      onIdle: rest,
      onGone: () => {
        if (helper === opened) helper = undefined
      },
    })
    return opened
  }

  return {
    helper: () => helper?.pid(),
    start: async (order) => {
      const isSmall = !hasHelper() || process.memoryUsage.rss() <= smallBytes
      if (isSmall && !helper) return startHere(order)
      clearTimeout(timer)
      helper ??= open()
      return helper.start(order)
    },
  }
}

/** Whoever starts something in this process shares one helper. */
export const starter = openStarter()

function startHere(order: ProcessOrder): Promise<StartedProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<StartedProcess>()
  const child = spawnHere(order)
  child.on('error', reject)
  const { pid } = child
  if (pid === undefined) return promise
  const listeners: ((bytes: number) => void)[] = []
  const exited = Promise.withResolvers<number | null>()
  const closed = Promise.withResolvers<void>()
  const memory = watchMemory(pid, (bytes) => {
    for (const listener of listeners) listener(bytes)
  })
  child.on('exit', (code) => {
    memory.stop()
    exited.resolve(code)
  })
  child.on('close', () => closed.resolve())
  resolve({
    pid,
    input: (descriptor) => child.stdio[descriptor] as Writable, // as it was ordered
    output: (descriptor) => child.stdio[descriptor] as Readable, // the same
    exited: exited.promise,
    closed: closed.promise,
    onMemory: (listener) => listeners.push(listener),
  })
  return promise
}

type Helper = {
  readonly pid: () => number | undefined
  readonly start: (order: ProcessOrder) => Promise<StartedProcess>
  readonly end: () => void
}
type Ends = { readonly onIdle: () => void; readonly onGone: () => void }

/** A process with nothing in it but what starts others; it goes with this one, and takes along what it started. */
function openHelper({ onIdle, onGone }: Ends): Helper {
  const child = fork(helperFile(), [], {
    serialization: 'advanced',
    execArgv: [],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const running = new Map<number, Remote>()
  let lastId = 0
  const settle = (id: number) => {
    running.delete(id)
    if (running.size > 0) return
    // Nothing is under way that this process would have to wait for.
    child.channel?.unref()
    onIdle()
  }
  const lose = (why: string) => {
    onGone()
    for (const one of running.values()) one.lose(why)
    running.clear()
  }
  child.unref()
  child.on('message', (said: StarterReply) => running.get(said.id)?.hear(said))
  child.on('error', ({ message }) => lose(message))
  child.on('exit', () => lose('What starts programs ended.'))
  return {
    pid: () => child.pid,
    start: (order) => {
      lastId += 1
      const id = lastId
      const remote = openRemote({ id, order, child, onClosed: () => settle(id) })
      running.set(id, remote)
      child.channel?.ref()
      child.send({ id, order } satisfies StarterAsk, (error) => error && remote.lose(error.message))
      return remote.started
    },
    end: () => {
      onGone()
      if (child.connected) child.disconnect()
    },
  }
}

type Remote = {
  readonly started: Promise<StartedProcess>
  readonly hear: (said: StarterReply) => void
  /** Nobody will say more of it: it is ended, should it run. */
  readonly lose: (why: string) => void
}
type RemoteFacts = {
  readonly id: number
  readonly order: ProcessOrder
  readonly child: ChildProcess
  readonly onClosed: () => void
}

function openRemote({ id, order, child, onClosed }: RemoteFacts): Remote {
  const started = Promise.withResolvers<StartedProcess>()
  const exited = Promise.withResolvers<number | null>()
  const closed = Promise.withResolvers<void>()
  const listeners: ((bytes: number) => void)[] = []
  const tell = (descriptor: number, data?: Uint8Array | string) => {
    const ask: StarterAsk = data === undefined ? { id, descriptor } : { id, descriptor, data }
    if (child.connected) child.send(ask, () => undefined) // whoever waits hears that it is gone
  }
  const streams = new Map(order.descriptors.flatMap((what, at) => openEnd(what, at, tell)))
  let pid: number | undefined
  const end = () => {
    for (const stream of streams.values()) if (stream instanceof Readable) stream.push(null)
    exited.resolve(null)
    closed.resolve()
  }
  const begin = (begun: number) => {
    pid = begun
    started.resolve({
      pid: begun,
      input: (descriptor) => streams.get(descriptor) as Writable, // as it was ordered
      output: (descriptor) => streams.get(descriptor) as Readable, // the same
      exited: exited.promise,
      closed: closed.promise,
      onMemory: (listener) => listeners.push(listener),
    })
  }
  const read = (descriptor: number, data: Uint8Array | undefined) => {
    const stream = streams.get(descriptor)
    if (stream instanceof Readable && !stream.destroyed) stream.push(data ?? null)
  }
  const over = (why = '') => {
    started.reject(new Error(why))
    end()
    onClosed()
  }
  return {
    started: started.promise,
    hear: (said) => {
      if ('pid' in said) return begin(said.pid)
      if ('descriptor' in said) return read(said.descriptor, said.data)
      if ('bytes' in said) return listeners.forEach((listener) => void listener(said.bytes))
      if ('exited' in said) return exited.resolve(said.exited)
      return over('failed' in said ? said.failed : undefined)
    },
    lose: (why) => {
      started.reject(new Error(why))
      killGroup(pid)
      end()
    },
  }
}

type Tell = (descriptor: number, data?: Uint8Array | string) => void

/** Our end of a descriptor of a process that another one started. */
function openEnd(what: ProcessOrder['descriptors'][number], at: number, tell: Tell): [number, Readable | Writable][] {
  if (what === 'out') return [[at, new Readable({ read: () => undefined })]]
  if (what !== 'in') return []
  const to = new Writable({
    decodeStrings: false,
    write: (data: Uint8Array | string, _, done) => {
      tell(at, data)
      done()
    },
    final: (done) => {
      tell(at)
      done()
    },
  })
  return [[at, to]]
}

/** Next to this module among the sources, next to it in the bundle. */
function helperFile(): string {
  const name = import.meta.url.endsWith('.ts') ? './starter.worker.ts' : './starter.worker.js'
  return fileURLToPath(new URL(name, import.meta.url))
}
