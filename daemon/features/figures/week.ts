import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { SeriesSpan } from '../../../src/model/words.ts'
import type { Clock } from '../../ports/clock.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx, Store } from '../../store/port.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'
import { spans } from './calls.ts'
import { addFlows, type Flows, joined, noFlows } from './flows.ts'

const MINUTES_KEPT = DAY_MS / MINUTE_MS
const HOURS_KEPT = (7 * DAY_MS) / HOUR_MS
const SCAN_ROWS = 500
/** Maximum number of ledger entries that are counted from before the daemon's start, newest first. */
const PAST_ENTRIES_MAX = 20_000

/** Money flows of the last week by wall time, from ledger entries before and after the daemon's start. */
type Week = {
  readonly written: (entry: LedgerRow) => void
  /** Counts the entries of the past week that are in the books already. Further calls do nothing. */
  readonly past: () => Promise<void>
  readonly within: (span: SeriesSpan, at: number) => Flows
}

export function openWeek({ store, clock }: { readonly store: Pick<Store, 'read'>; readonly clock: Clock }): Week {
  const minutes = flowRing(MINUTE_MS, MINUTES_KEPT)
  const hours = flowRing(HOUR_MS, HOURS_KEPT)
  let past: Promise<void> | undefined
  // No entry counts twice: those from `firstWritten` on count when written, earlier ones when read from the books.
  let [firstWritten, lastRead] = [Number.POSITIVE_INFINITY, 0]

  function count(at: number, entry: LedgerRow): void {
    addFlows(minutes.at(at), entry)
    addFlows(hours.at(at), entry)
  }

  async function readPast(): Promise<void> {
    const [since, ahead] = [clock.now() - HOURS_KEPT * HOUR_MS, clock.wall() - clock.now()]
    await store.read(async (t) => {
      for await (const entry of entriesBackTo(t, since)) {
        if (entry.seq >= firstWritten) continue
        lastRead = Math.max(lastRead, entry.seq)
        count(entry.at + ahead, entry)
      }
    })
  }

  return {
    written(entry) {
      // Released holds have no sequence number, and move no money.
      if (entry.seq === 0) return
      firstWritten = Math.min(firstWritten, entry.seq)
      if (entry.seq > lastRead) count(clock.wall(), entry)
    },
    past() {
      past ??= readPast()
      return past
    },
    within(span, at) {
      const { bucketMs } = spans[span]
      return span === 'week' ? hours.sum(at, 1) : minutes.sum(at + bucketMs - MINUTE_MS, bucketMs / MINUTE_MS)
    },
  }
}

async function* entriesBackTo(t: ReadTx, since: number): AsyncGenerator<LedgerRow> {
  let many = 0
  for await (const rows of eachPage(t.table(ledger), { index: 'at', prefix: [], limit: SCAN_ROWS, order: 'desc' })) {
    for (const row of rows) {
      if (row.at < since) return
      yield row
    }
    many += rows.length
    if (many >= PAST_ENTRIES_MAX) return
  }
}

type FlowRing = { readonly at: (time: number) => Flows; readonly sum: (time: number, count: number) => Flows }

/** Flows in a ring of equal intervals. */
function flowRing(stretchMs: number, length: number): FlowRing {
  const ring: ({ readonly stretch: number; readonly flows: Flows } | undefined)[] = new Array(length).fill(undefined)
  return {
    at(time) {
      const stretch = Math.floor(time / stretchMs)
      const held = ring[stretch % length]
      if (held?.stretch === stretch) return held.flows
      // The slot already holds a newer interval, so there are no flows to return for the old one.
      if (held !== undefined && held.stretch > stretch) return noFlows()
      const flows = noFlows()
      ring[stretch % length] = { stretch, flows }
      return flows
    },
    sum(time, count) {
      const last = Math.floor(time / stretchMs)
      let sum = noFlows()
      for (let stretch = last - Math.min(count, length) + 1; stretch <= last; stretch += 1) {
        const held = ring[((stretch % length) + length) % length]
        if (held?.stretch === stretch) sum = joined(sum, held.flows)
      }
      return sum
    },
  }
}
