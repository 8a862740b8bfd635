/** A queue with one lane per owner; lanes take turns. */
export type FairQueue<T> = {
  /**
   * Adds an item to its owner's lane.
   * @returns the item that a full queue rejects: the newest one of the longest lane, which may be the added item
   */
  readonly push: (who: string, item: T) => T | undefined
  /** Takes the next item from the next lane; undefined if the queue is empty. */
  readonly shift: () => T | undefined
  readonly remove: (who: string, item: T) => boolean
  readonly size: () => number
}

export function fairQueue<T>(maxItems: number): FairQueue<T> {
  /** In turn order. */
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
