import { setFlagsFromString } from 'node:v8'

/** V8 collects garbage when the heap has grown by this percentage. By default, it lets the heap grow fourfold. */
const HEAP_GROWTH_PERCENT = 30
/** Size of each of V8's three semi-spaces, in MB; the default is 64. */
const SEMI_SPACE_MB = 8
/** Freed blocks of this size return to the system immediately; by default, the C library raises this threshold. */
const GIVE_BACK_FROM_BYTES = 128 * 1024

/** Environment of the child: these settings have an effect only at the start of a process. */
export const memoryVariables: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--max-semi-space-size=${SEMI_SPACE_MB}`,
  // A pool for each thread would keep freed memory.
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(GIVE_BACK_FROM_BYTES),
  MALLOC_TRIM_THRESHOLD_: String(GIVE_BACK_FROM_BYTES),
}

/** Limits the heap's growth; call it before anything else in a daemon process. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
}
