import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { lowerProcess } from '../priority.ts'

/** What a process finds as one of its descriptors: something we write to, or read from, a file that it reads, or nothing. */
export type Descriptor = 'in' | 'out' | 'ignore' | { readonly file: string }

/** A process to start, as the leader of a group of its own. */
export type ProcessOrder = {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
  /** By number: standard input, output and error, and what comes after them. */
  readonly descriptors: readonly Descriptor[]
  readonly uid?: number | undefined
  readonly gid?: number | undefined
}

/** Starts it from this very process; where that comes to nothing it has no pid, and says `error`. */
export function spawnHere({ file, args, cwd, env, descriptors, uid, gid }: ProcessOrder): ChildProcess {
  const isWindows = process.platform === 'win32'
  const opened = descriptors.map((what) => (typeof what === 'object' ? openSync(what.file, 'r') : undefined))
  try {
    const child = spawn(file, [...args], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...env },
      stdio: descriptors.map((what, at) => opened[at] ?? (what === 'ignore' ? 'ignore' : 'pipe')),
      detached: !isWindows,
      windowsHide: true,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    })
    if (child.pid !== undefined) lowerProcess(child.pid)
    return child
  } finally {
    for (const descriptor of opened) if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Ends a group as a whole: a wrapper that starts others takes them along. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // All of it ended already.
  }
}
