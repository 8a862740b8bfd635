import { collections } from '../../daemon/app.ts'
import { openCallFigures } from '../../daemon/features/figures/calls.ts'
import { openMoneyFigures } from '../../daemon/features/figures/money.ts'
import { account, legsOf } from '../../daemon/features/ledger/legs.ts'
import { type LedgerRow, ledger } from '../../daemon/features/ledger/rows.ts'
import { openRequestLog } from '../../daemon/features/story/request-log.ts'
import { systemClock } from '../../daemon/ports/clock.ts'
import { openMemoryStore } from '../../daemon/store/memory/open.ts'
import type { Change, Store } from '../../daemon/store/port.ts'
import { usdc } from '../../src/core/money.ts'
import { linesOf } from '../../src/model/ledger.ts'

const CALLS = 20_000
/** Thrown away: the compiler is done then. */
const WARM_UP_ROUNDS = 2
const ENDPOINT = 'getJob'
const PRICE = usdc(1_000n)

/**
 * What it takes to remember a paid request for whoever looks later: its line in the ring of requests, the series of
 * calls, and those of money with the day's sums. Each round has its own figures.
 * @returns processor time a request, microseconds.
 */
export async function watchedMicros(rounds: number): Promise<readonly number[]> {
  const micros: number[] = []
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round += 1) micros.push(await oneRound())
  return micros.slice(WARM_UP_ROUNDS)
}

async function oneRound(): Promise<number> {
  const log = openRequestLog(systemClock.wall)
  const calls = openCallFigures(systemClock.wall, new Set([ENDPOINT]))
  const { told, close } = await openMoney()
  const changes = Array.from({ length: CALLS }, (_, i) => booked(i + 1))
  const before = process.cpuUsage()
  for (const [i, change] of changes.entries()) {
    const requestId = `req_${i.toString(16).padStart(16, '0')}`
    const entry = log.begin({ id: requestId, method: 'GET', path: '/v1/jobs/job_0000000000000001', attempt: null })
    const noted = log.find(requestId)
    if (noted) noted.row = ENDPOINT
    told(change)
    log.end(entry, 200)
    calls.add({ endpoint: ENDPOINT, status: 200, ms: i % 50, requestId })
  }
  const { user, system } = process.cpuUsage(before)
  await close()
  return (user + system) / CALLS
}

/** The series of money, told of changes by hand: what the store itself takes is counted elsewhere. */
async function openMoney() {
  const store = openMemoryStore(collections)
  let told: (change: Change) => void = () => undefined
  const subscribe: Store['subscribe'] = (listener) => {
    told = listener
    return () => undefined
  }
  const money = openMoneyFigures({ store: { ...store, subscribe }, clock: systemClock })
  // From the first look on the sums of the day are kept too.
  await money.day()
  return {
    told,
    close() {
      money.close()
      return store.close()
    },
  }
}

function booked(seq: number): Change {
  const entry: LedgerRow = {
    id: `tx_${seq}`,
    version: 1,
    seq,
    kind: 'fixed_price_call',
    ref_kind: 'payment',
    ref_id: `pay_${seq}`,
    lines: linesOf(legsOf.fixedPriceCall({ source: account.ext, price: PRICE })),
    at: systemClock.now(),
  }
  return { seq, writes: [{ collection: ledger.name, key: entry.id, row: entry }] }
}
