import { setFlagsFromString } from 'node:v8'

/* Keeps resident memory close to actual use. */

/** By default V8 lets the heap grow fourfold before collecting. */
const HEAP_GROWTH_PERCENT = 30
/** MB per semi-space, three in all; V8's default is 64. */
const SEMI_SPACE_MB = 8
/** Freed blocks of this size return to the system immediately; by default, the C library raises this threshold. */
const GIVE_BACK_FROM_BYTES = 128 * 1024

/** Passed to the child, since a running process can no longer change these settings. */
export const memoryVariables: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--max-semi-space-size=${SEMI_SPACE_MB}`,
  // Per-thread pools would keep freed memory.
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(GIVE_BACK_FROM_BYTES),
  MALLOC_TRIM_THRESHOLD_: String(GIVE_BACK_FROM_BYTES),
}

/** Call first in a daemon process. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
}
