import { spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { compact } from '../../../src/core/record.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import { lowerProcess } from '../priority.ts'

/** What a file descriptor of the process is: a pipe to it, a pipe from it, nothing, or a file. */
export type Descriptor = 'in' | 'out' | 'ignore' | { readonly file: string }

/** A process to start in its own group. */
export type ProcessOrder = {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  /** Complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** In the order of their numbers: stdin, stdout, stderr, then others. */
  readonly descriptors: readonly Descriptor[]
  readonly uid?: number | undefined
  readonly gid?: number | undefined
}

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
function watchUse(group: number, tell: (use: GroupUse) => void): { readonly stop: () => void } {
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

/** Starts a program in its own process group, with lower priority. @throws Error when it cannot start */
export async function startProcess(order: ProcessOrder): Promise<StartedProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<StartedProcess>()
  const child = spawnChild(order)
  child.on('error', reject)
  const { pid } = child
  if (pid === undefined) return promise
  lowerProcess(pid)
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

function spawnChild({ file, args, cwd, env, descriptors, uid, gid }: ProcessOrder) {
  const opened = descriptors.map((what) => (typeof what === 'object' ? openSync(what.file, 'r') : undefined))
  try {
    return spawn(file, [...args], {
      ...compact({ cwd, uid, gid }),
      env: { ...env },
      stdio: descriptors.map((what, at) => opened[at] ?? (what === 'ignore' ? 'ignore' : 'pipe')),
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
  } finally {
    for (const descriptor of opened) if (descriptor !== undefined) closeSync(descriptor)
  }
}

export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // All processes of the group have ended.
  }
}
