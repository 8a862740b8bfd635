import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { SECOND_MS } from '../../../src/core/time.ts'
import { killGroup, type ProcessOrder, spawnHere } from './spawn.ts'

const BYTES_A_KB = 1_024
/** Indexes in /proc/PID/stat, counted after the name: the process group, and the first and last processor times. */
const GROUP_FIELD = 2
const TIME_FIELDS = [11, 15] as const
/** The unit of those times on Linux. */
const TICK_MS = 10
const LOOK_EVERY_MS = SECOND_MS / 4
/** A process of another group is skipped for up to this many scans. Then it is read again, because pids are reused. */
const LOOKS_KEPT = 8

/** What a process group takes: memory (PSS), and processor time since its start. */
export type GroupUse = { readonly bytes: number; readonly cpuMs: number }

/** Reports what a process group takes several times a second, on Linux; reads /proc synchronously. */
export function watchUse(group: number, tell: (use: GroupUse) => void): { readonly stop: () => void } {
  const others = new Set<string>()
  let looks = 0
  const look = () => {
    if (looks % LOOKS_KEPT === 0) others.clear()
    looks += 1
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !others.has(name))
    const uses = pids.map((pid) => useOf(pid, group, others))
    const sum = (part: keyof GroupUse) => uses.reduce((total, { [part]: one }) => total + one, 0)
    tell({ bytes: sum('bytes'), cpuMs: sum('cpuMs') })
  }
  const timer = process.platform === 'linux' ? setInterval(look, LOOK_EVERY_MS).unref() : undefined
  return { stop: () => clearInterval(timer) }
}

function useOf(pid: string, group: number, others: Set<string>): GroupUse {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[GROUP_FIELD]) !== group) {
      others.add(pid)
      return { bytes: 0, cpuMs: 0 }
    }
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const ticks = fields.slice(...TIME_FIELDS).reduce((total, time) => total + Number(time), 0)
    return { bytes: Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * BYTES_A_KB, cpuMs: ticks * TICK_MS }
  } catch {
    return { bytes: 0, cpuMs: 0 } // it ended meanwhile
  }
}

export type StartedProcess = {
  readonly pid: number
  readonly input: (descriptor: number) => Writable
  readonly output: (descriptor: number) => Readable
  /** Exit code; null after a signal. */
  readonly exited: Promise<number | null>
  /** Resolves when the process has ended and all its output was read. */
  readonly closed: Promise<void>
  readonly onUse: (listener: (use: GroupUse) => void) => void
}

export type Starter = {
  /** @throws Error when the program cannot start */
  readonly start: (order: ProcessOrder) => Promise<StartedProcess>
  /** Pid of the helper process, if running. */
  readonly helper: () => number | undefined
}

/** Messages to the helper process. A message without `data` ends the stream. */
export type StarterAsk =
  | { readonly id: number; readonly order: ProcessOrder }
  | { readonly id: number; readonly descriptor: number; readonly data?: Uint8Array | string }
export type StarterReply =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly failed: string }
  | { readonly id: number; readonly descriptor: number; readonly data?: Uint8Array }
  | { readonly id: number; readonly use: GroupUse }
  | { readonly id: number; readonly exited: number | null }
  | { readonly id: number; readonly closed: true }

/**
 * If this process uses more memory than this, a small helper process starts programs. On fork, Linux copies page tables
 * and pauses the forking process: 40 to 270 ms at 600 MB, 3 ms for a small process.
 */
const SMALL_BYTES = 192 * 1024 * 1024
const IDLE_MS = 30 * SECOND_MS
/** Whether a helper process can be started: only on Linux, and not by the single-file build, which lacks the module. */
const hasHelper = () => process.platform === 'linux' && !process.getBuiltinModule('node:sea').isSea()

/** @param smallBytes memory size up to which this process starts programs itself; only Linux needs a helper */
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

export const starter = openStarter()

function startHere(order: ProcessOrder): Promise<StartedProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<StartedProcess>()
  const child = spawnHere(order)
  child.on('error', reject)
  const { pid } = child
  if (pid === undefined) return promise
  const listeners: ((use: GroupUse) => void)[] = []
  const exited = Promise.withResolvers<number | null>()
  const closed = Promise.withResolvers<void>()
  const watch = watchUse(pid, (use) => {
    for (const listener of listeners) listener(use)
  })
  child.on('exit', (code) => {
    watch.stop()
    exited.resolve(code)
  })
  child.on('close', () => closed.resolve())
  resolve({
    pid,
    input: (descriptor) => child.stdio[descriptor] as Writable, // as it was ordered
    output: (descriptor) => child.stdio[descriptor] as Readable, // the same
    exited: exited.promise,
    closed: closed.promise,
    onUse: (listener) => listeners.push(listener),
  })
  return promise
}

type Helper = {
  readonly pid: () => number | undefined
  readonly start: (order: ProcessOrder) => Promise<StartedProcess>
  readonly end: () => void
}

/** A minimal process that starts programs. When the daemon ends, the helper kills its children and ends, too. */
function openHelper({ onIdle, onGone }: { readonly onIdle: () => void; readonly onGone: () => void }): Helper {
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
    // The channel must not keep this process alive.
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
  child.on('exit', () => lose('The program launcher exited.'))
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
  /** Kills the process after its helper was lost, and ends its streams and promises. */
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
  const listeners: ((use: GroupUse) => void)[] = []
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
      onUse: (listener) => listeners.push(listener),
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
      if ('use' in said) return listeners.forEach((listener) => void listener(said.use))
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

/** Stream to or from a descriptor of a process that the helper started. */
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

/** Path of the helper module, which is in this module's folder in the sources and in the bundle. */
function helperFile(): string {
  const name = import.meta.url.endsWith('.ts') ? './starter.worker.ts' : './starter.worker.js'
  return fileURLToPath(new URL(name, import.meta.url))
}
