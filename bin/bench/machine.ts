import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { figure } from './report.ts'

const PROBE_MS = 400
const PROBE_BYTES = 2_048
const MILLISECONDS_A_SECOND = 1_000

export type Machine = {
  readonly cpu: string
  readonly cores: number
  readonly node: string
  readonly load: readonly number[]
  /** Appends of 2 KB, each with an fdatasync, a second, where temporary files lie. */
  readonly syncsPerSecond: number
}

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    node: process.version,
    load: loadavg().map((value) => Number(value.toFixed(2))),
    syncsPerSecond: Math.round(syncRate()),
  }
}

export function machineLine({ cpu, cores, node, load, syncsPerSecond }: Machine): string {
  return `${cpu}, ${cores} cores, Node ${node}, load ${load.join(' ')}, ${figure(syncsPerSecond)} append+fdatasync/s of 2 KB`
}

function syncRate(): number {
  const folder = mkdtempSync(join(tmpdir(), 'souk-bench-'))
  const file = openSync(join(folder, 'probe'), 'a')
  const bytes = Buffer.alloc(PROBE_BYTES, 1)
  const started = performance.now()
  let syncs = 0
  for (; performance.now() - started < PROBE_MS; syncs += 1) {
    writeSync(file, bytes)
    fdatasyncSync(file)
  }
  const rate = (syncs * MILLISECONDS_A_SECOND) / (performance.now() - started)
  closeSync(file)
  rmSync(folder, { recursive: true, force: true })
  return rate
}
