/** Waits in lanes, one for each who: lanes take turns, so that one with much to do delays no other for long. */
export type FairQueue<T> = {
  /**
   * Puts an item at the end of its lane.
   * @returns what has no room: of a full queue the newest of the longest lane, which may be the item itself.
   */
  readonly push: (who: string, item: T) => T | undefined
  /** The next one, from the lane whose turn it is. */
  readonly shift: () => T | undefined
  /** Takes an item out; false when it is not in here. */
  readonly remove: (who: string, item: T) => boolean
  readonly size: () => number
}

export function fairQueue<T>(maxItems: number): FairQueue<T> {
  /** In the order of their turns: a Map keeps the order of insertion. */
  const lanes = new Map<string, T[]>()
  let size = 0

  const drop = (who: string, lane: T[]) => {
    size -= 1
    if (lane.length === 0) lanes.delete(who)
  }

  return {
    push(who, item) {
      const lane = lanes.get(who) ?? []
      lanes.set(who, lane)
      lane.push(item)
      size += 1
      if (size <= maxItems) return undefined
      const [longest, items] = [...lanes].reduce((most, one) => (one[1].length > most[1].length ? one : most))
      const newest = items.pop()
      drop(longest, items)
      return newest
    },
    shift() {
      const [first] = lanes
      if (!first) return undefined
      const [who, lane] = first
      const item = lane.shift()
      lanes.delete(who)
      if (lane.length > 0) lanes.set(who, lane)
      size -= 1
      return item
    },
    remove(who, item) {
      const lane = lanes.get(who)
      const at = lane?.indexOf(item) ?? -1
      if (!lane || at < 0) return false
      lane.splice(at, 1)
      drop(who, lane)
      return true
    },
    size: () => size,
  }
}
