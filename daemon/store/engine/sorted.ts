/** Maximum number of entries per block: at this size, a splice costs less than the search. */
const BLOCK_MAX_ENTRIES = 512
const BLOCK_BUILD_ENTRIES = 384

/** Compares an entry with a place: negative if the entry is before the place. */
export type Probe<E> = (entry: E) => number

type Position = { readonly block: number; readonly offset: number }

/** A sorted list in blocks; costs are nearly independent of its size. */
export type Sorted<E> = ReturnType<typeof createSorted<E>>

/** First index for which `after` holds; else `items.length`. */
function partition<T>(items: readonly T[], after: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (after(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}

function intoBlocks<E>(entries: readonly E[]): E[][] {
  const blocks: E[][] = []
  for (let i = 0; i < entries.length; i += BLOCK_BUILD_ENTRIES) blocks.push(entries.slice(i, i + BLOCK_BUILD_ENTRIES))
  return blocks
}

/** @param entries - sorted in place */
export function createSorted<E>(compare: (a: E, b: E) => number, entries: E[] = []) {
  const blocks = intoBlocks(entries.sort(compare))
  let size = entries.length

  const locate: Locate<E> = (after) => positionOf(blocks, after)
  const at = (p: Position): E | undefined => blocks[p.block]?.[p.offset]

  function insert(entry: E): void {
    size += 1
    const found = locate((e) => compare(e, entry) >= 0)
    const isTail = found.block === blocks.length
    const block = isTail ? blocks.length - 1 : found.block
    const target = blocks[block]
    if (target === undefined || (isTail && target.length >= BLOCK_BUILD_ENTRIES)) {
      blocks.push([entry])
      return
    }
    target.splice(isTail ? target.length : found.offset, 0, entry)
    if (target.length > BLOCK_MAX_ENTRIES) blocks.splice(block + 1, 0, target.splice(BLOCK_MAX_ENTRIES >> 1))
  }

  function remove(entry: E): boolean {
    const found = locate((e) => compare(e, entry) >= 0)
    const existing = at(found)
    if (existing === undefined || compare(existing, entry) !== 0) return false
    const target = blocks[found.block] as E[]
    target.splice(found.offset, 1)
    if (target.length === 0) blocks.splice(found.block, 1)
    size -= 1
    return true
  }

  function replace(entry: E): void {
    const found = locate((e) => compare(e, entry) >= 0)
    const target = blocks[found.block]
    if (target !== undefined && found.offset < target.length) target[found.offset] = entry
  }

  /** Number of entries from the first with `from` >= 0 up to, but not including, the first with `to` > 0. */
  function countBetween(from: Probe<E>, to: Probe<E>): number {
    return distance(
      blocks,
      locate((e) => from(e) >= 0),
      locate((e) => to(e) > 0),
    )
  }

  return {
    size: () => size,
    insert,
    remove,
    replace,
    countBetween,
    /** Entries with probe >= 0, ascending. */
    forward: (from: Probe<E>) => ascending(blocks, locate, from),
    /** Entries with probe <= 0, descending. */
    backward: (from: Probe<E>) => descending(blocks, locate, from),
  }
}

/** First position for which `after` holds. */
function positionOf<E>(blocks: readonly E[][], after: (entry: E) => boolean): Position {
  const block = partition(blocks, (b) => after(b[b.length - 1] as E))
  const entries = blocks[block]
  return { block, offset: entries === undefined ? 0 : partition(entries, after) }
}

/** Number of entries between two positions; 0 if reversed. */
function distance(blocks: readonly (readonly unknown[])[], start: Position, end: Position): number {
  let count = end.offset - start.offset
  for (let i = start.block; i < end.block; i += 1) count += blocks[i]?.length ?? 0
  return start.block > end.block ? 0 : Math.max(0, count)
}

/** First position for which a monotonic test holds. */
type Locate<E> = (after: (entry: E) => boolean) => Position

function* ascending<E>(blocks: readonly E[][], locate: Locate<E>, from: Probe<E>): Generator<E> {
  const start = locate((e) => from(e) >= 0)
  for (let b = start.block; b < blocks.length; b += 1) {
    const block = blocks[b] as E[]
    for (let i = b === start.block ? start.offset : 0; i < block.length; i += 1) yield block[i] as E
  }
}

function* descending<E>(blocks: readonly E[][], locate: Locate<E>, from: Probe<E>): Generator<E> {
  const end = locate((e) => from(e) > 0)
  for (let b = Math.min(end.block, blocks.length - 1); b >= 0; b -= 1) {
    const block = blocks[b] as E[]
    for (let i = (b === end.block ? end.offset : block.length) - 1; i >= 0; i -= 1) yield block[i] as E
  }
}
