import { readdirSync, readFileSync } from 'node:fs'
import { SECOND_MS } from '../../../src/core/time.ts'

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
