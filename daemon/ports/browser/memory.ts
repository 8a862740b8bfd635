import { readdir, readFile } from 'node:fs/promises'

const BYTES_A_KB = 1_024
/** Fields of /proc/PID/stat after the name in parentheses: state, parent, group. */
const GROUP_FIELD = 2

/**
 * Memory of a process group in bytes, what its processes share counted once (PSS). 0 where the system does not say it.
 */
export async function memoryOfGroup(group: number): Promise<number> {
  if (process.platform !== 'linux') return 0
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const sizes = await Promise.all(pids.map((pid) => sizeIn(pid, group)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function sizeIn(pid: string, group: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[GROUP_FIELD]) !== group) return 0
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * BYTES_A_KB
  } catch {
    return 0 // it ended meanwhile
  }
}
