import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { StoreTooLarge } from '../errors.ts'

/** Bytes read between heap checks. */
const LOOK_EVERY_BYTES = 4 * 1024 * 1024
/** If more than this share of the heap is in use, garbage is collected and the heap measured again. */
const COLLECT_ABOVE = 0.6
/** A store that fills more than this share of the heap is refused, because the daemon needs the rest for its work. */
const REFUSE_ABOVE = 0.75
const MB = 1024 * 1024
/** Three default semi-spaces. */
const NURSERY_BYTES = 192 * MB

/** Makes a function that collects garbage, even if Node was started without `--expose-gc`. */
function openCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** Heap available for rows: V8's limit without the young generation. */
function oldSpaceBytes(): number {
  const { heap_size_limit } = getHeapStatistics()
  return Math.max(heap_size_limit - NURSERY_BYTES, heap_size_limit / 4)
}

/** Checks the heap while reading a store, so that an oversized one gives an error instead of a crash. */
export function heapGuard(dir: string): (bytes: number) => void {
  let unlookedBytes = 0
  let collect: (() => void) | undefined

  const limitBytes = oldSpaceBytes()
  const usedShare = (): number => getHeapStatistics().used_heap_size / limitBytes

  return (bytes) => {
    unlookedBytes += bytes
    if (unlookedBytes < LOOK_EVERY_BYTES) return
    unlookedBytes = 0
    if (usedShare() < COLLECT_ABOVE) return
    collect ??= openCollector()
    collect()
    if (usedShare() > REFUSE_ABOVE) throw new StoreTooLarge(dir, Math.round(limitBytes / MB))
  }
}
