import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { StoreTooLarge } from '../errors.ts'

/** Bytes of the files between two looks at the heap. */
const LOOK_EVERY_BYTES = 4 * 1024 * 1024
/** Above this share of its limit the heap is collected, to see what of it is in use. */
const COLLECT_ABOVE = 0.6
/** What is in use then may take this share: a process that starts needs the rest for its work. */
const REFUSE_ABOVE = 0.75
const MB = 1024 * 1024
/** Three semi-spaces of the default size. */
const NURSERY_BYTES = 192 * MB

/** A collection when it is asked for; one that the process was not started for. */
function openCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** What of the limit is for rows: V8 counts the nurseries of young objects in. */
function oldSpaceBytes(): number {
  const { heap_size_limit } = getHeapStatistics()
  return Math.max(heap_size_limit - NURSERY_BYTES, heap_size_limit / 4)
}

/** Looks at the heap while a store is read: a start that does not fit ends in a sentence and not in the death of the process. */
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
