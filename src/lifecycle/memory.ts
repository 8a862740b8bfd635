import { setFlagsFromString } from 'node:v8'

/* What keeps the resident memory of a daemon near to what it uses, whatever strangers make it read and throw away. */

/** Left to itself, V8 lets the heap grow to four times of what lives in it before it collects. */
const HEAP_GROWTH_PERCENT = 30
/** MB: young objects have three of these, which V8 would let grow to 64 each and not give back. */
const SEMI_SPACE_MB = 8
/** Larger blocks, such as bodies, go back to the system at once; 128 KB is what the C library begins with. */
const GIVE_BACK_FROM_BYTES = 128 * 1024

/** Environment in which the process of a daemon is started: what can't be changed once it runs. */
export const memoryVariables: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--max-semi-space-size=${SEMI_SPACE_MB}`,
  // Each thread would have pools of its own, which hold what was freed.
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(GIVE_BACK_FROM_BYTES),
  MALLOC_TRIM_THRESHOLD_: String(GIVE_BACK_FROM_BYTES),
}

/** To be called first by a process that is a daemon. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
}
