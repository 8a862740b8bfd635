const COMPACT_AFTER_WAITERS = 1_024

export function createMutex() {
  let busy = false
  /** Waiters in order; moving `head` avoids linear shifts. */
  let waiting: (() => void)[] = []
  let head = 0

  function release(): void {
    if (head >= COMPACT_AFTER_WAITERS) {
      waiting = waiting.slice(head)
      head = 0
    }
    const next = waiting[head]
    if (next === undefined) {
      busy = false
      waiting = []
      head = 0
      return
    }
    head += 1
    next()
  }

  async function run<T>(body: () => Promise<T>): Promise<T> {
    if (busy) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy = true
    try {
      return await body()
    } finally {
      release()
    }
  }

  return { run }
}
