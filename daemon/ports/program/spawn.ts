import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
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

/** Starts a child of this process; on failure the child has no pid and emits `error`. */
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

export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // All processes of the group have ended.
  }
}
