import { readFile } from 'node:fs/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { RECOVERY_METRIC } from '../../../src/model/payment.ts'
import { type CronRow, crons } from '../../crons/rows.ts'
import { instanceLabel } from '../../kernel/config.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { ChainEvent, ChainPort } from '../../ports/chain/chain.ts'
import { type Store, writtenRow } from '../../store/port.ts'
import type { FacilitatorCounts } from '../facilitator/routes.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { accounts } from '../ledger/rows.ts'
import { payments } from '../payments/rows.ts'
import { unservedPeriods } from '../subscriptions/rows.ts'
import { deliveries } from '../webhooks/rows.ts'

const BLOCK_SECONDS = [0.01, 0.05, 0.25, 1, 2, 4, 8, 15, 60, 300]
const ASK_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 5]
const BATCH_ITEMS = [1, 2, 5, 10, 25, 50, 100]

type Chain = Pick<ChainPort, 'status' | 'observe'>

/** Metrics of a connected chain; none for a sandbox ledger. */
function countChain(chain: Chain, registry: Registry): () => void {
  if (chain.status === undefined || chain.observe === undefined) return () => undefined
  gaugesOf(chain.status, registry)
  return chain.observe(countersOf(registry))
}

function gaugesOf(status: NonNullable<Chain['status']>, registry: Registry): void {
  const shown = [
    ['in_flight', 'Transactions not yet in a block.', () => status().inFlight],
    ['waiting', 'Number of orders that wait for a transaction.', () => status().waiting],
    ['oldest_seconds', 'Age of the oldest transaction not yet in a block.', () => status().oldestSeconds ?? 0],
    ['gas_balance_wei', 'Balance of the gas key.', () => Number(status().gas?.wei ?? 0n)],
    ['head_age_seconds', 'Age of the newest block.', () => status().head?.ageSeconds ?? 0],
    ['head_block', 'Number of the newest block.', () => status().head?.block ?? 0],
    ['lag_blocks', 'Number of blocks the preferred node lags behind.', () => status().lagBlocks],
    ['nodes_down', 'Nodes that do not answer.', () => status().nodes.filter(({ error }) => error !== null).length],
    ['up', '1 if gas can be paid, otherwise 0.', () => Number(status().health !== 'down')],
  ] as const
  for (const [name, help, read] of shown) {
    new Gauge({
      name: `souk_chain_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
}

function countersOf(registry: Registry): (event: ChainEvent) => void {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Counter({ name: `souk_chain_${name}`, help, labelNames: [...labelNames], registers })
  const histogram = (name: string, help: string, shape: { buckets: number[]; labelNames?: string[] }) =>
    new Histogram({ name: `souk_chain_${name}`, help, ...shape, registers })
  const txs = counter('txs_total', 'Transactions by type and result.', ['kind', 'result'])
  const gas = counter('gas_used_total', 'Gas used by confirmed transactions.')
  const errors = counter('rpc_errors_total', 'Requests to nodes that failed.', ['method', 'kind'])
  const items = histogram('batch_items', 'Number of transfers per transaction.', { buckets: BATCH_ITEMS })
  const inclusion = histogram('inclusion_seconds', 'Time from sending to inclusion in a block.', {
    buckets: BLOCK_SECONDS,
  })
  const asked = histogram('rpc_seconds', 'Requests to nodes.', { buckets: ASK_SECONDS, labelNames: ['method'] })
  const simple = {
    resent: counter('resends_total', 'Number of times a transaction was rebroadcast.'),
    replaced: counter('replacements_total', 'Transactions replaced with a higher fee.'),
    reorged: counter('reorged_total', 'Transactions removed from a block by a reorganisation.'),
    reversed: counter('reversed_total', 'Settled transfers that the chain reverted permanently: each is a loss.'),
  }
  const endings = (result: string) => () => txs.inc({ kind: 'any', result })
  const count: { readonly [kind in ChainEvent['kind']]: (event: Extract<ChainEvent, { kind: kind }>) => void } = {
    asked: ({ method, seconds, fault }) => {
      asked.observe({ method }, seconds)
      if (fault !== undefined) errors.inc({ method, kind: fault })
    },
    sent: ({ what, items: many }) => {
      txs.inc({ kind: what, result: 'sent' })
      if (many > 0) items.observe(many)
    },
    included: ({ seconds, gasUsed, ok }) => {
      endings(ok ? 'included' : 'reverted')()
      inclusion.observe(seconds)
      gas.inc(Number(gasUsed))
    },
    resent: () => simple.resent.inc(),
    replaced: () => simple.replaced.inc(),
    reorged: () => simple.reorged.inc(),
    reversed: () => simple.reversed.inc(),
    superseded: endings('superseded'),
    confirmed: endings('confirmed'),
    final: endings('final'),
  }
  return (event) => (count[event.kind] as (one: ChainEvent) => void)(event) // each by its kind
}

/** Label of requests without an endpoint. */
export const NO_ENDPOINT = 'none'
/** Label of responses from cached public pages. */
export const FINISHED_PAGE = 'finished_page'

/** Bucket bounds in seconds: reads take milliseconds, an instant service up to 30 s. */
const DURATION_BUCKETS_S = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30]

/** Metrics for `GET /metrics`, in Prometheus text format 0.0.4. */
export type Metrics = {
  /** Counts a request by endpoint with its duration in seconds. */
  readonly request: (endpoint: string, status: number, seconds: number) => void
  readonly text: () => Promise<string>
  readonly close: () => void
}

export const metrics = defineResource<Metrics>('metrics')

/** Default gauges that are named like counters. They are omitted, because other gauges have the same data. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Processor time, memory, event loop and garbage collection of this process. */
export function processMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
}

/** Requests are counted when answered. Payments, crons and webhooks are counted when their rows are durable. */
export function openMetrics(
  { config, store, chain, recover }: Pick<Context, 'config' | 'store' | 'chain' | 'recover'>,
  facilitated: FacilitatorCounts,
): Metrics {
  const registry = new Registry()
  processMetrics(registry)
  const requests = new Counter({
    name: 'souk_http_requests_total',
    help: 'Requests by API endpoint and status.',
    labelNames: ['row', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'souk_http_request_duration_seconds',
    help: 'Request duration by API endpoint and status class.',
    labelNames: ['row', 'status_class'],
    buckets: [...DURATION_BUCKETS_S],
    registers: [registry],
  })
  new Gauge({
    name: RECOVERY_METRIC,
    help: 'Implementation of signature recovery: native, or wasm (three times slower).',
    labelNames: ['engine'],
    registers: [registry],
  }).set({ engine: recover.engine }, 1)
  if (config.store !== undefined) instanceGauge('leader', registry)
  countSyncs(store, registry)
  countFacilitated(facilitated, registry)
  storeGauges(store, registry)
  attentionGauge(store, registry)
  moneyGauge(store, registry)
  const unsubscribe = store.subscribe(followRows(registry))
  const unobserve = countChain(chain, registry)
  const close = () => {
    unsubscribe()
    unobserve()
    // Without this, the library's observer would keep the registry, and the registry's gauges would keep the store.
    registry.clear()
  }
  return {
    request: (endpoint, status, seconds) => {
      requests.inc({ row: endpoint, status: String(status) })
      durations.observe({ row: endpoint, status_class: `${Math.floor(status / 100)}xx` }, seconds)
    },
    text: () => registry.metrics(),
    close,
  }
}

/** Tells daemons of one database apart. */
export function instanceGauge(role: 'leader' | 'front', registry: Registry): void {
  new Gauge({
    name: 'souk_instance',
    help: 'This daemon, by its role: leader or front.',
    labelNames: ['role', 'instance'],
    registers: [registry],
  }).set({ role, instance: instanceLabel() }, 1)
}

function countSyncs(store: Store, registry: Registry): void {
  new Counter({
    name: 'souk_journal_syncs_total',
    help: 'Batches written and synced to the journal since the start.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(store.stats().syncs)
    },
  })
}

function countFacilitated(facilitated: FacilitatorCounts, registry: Registry): void {
  new Counter({
    name: 'souk_facilitator_requests_total',
    help: 'Requests to the facilitator by path and result since the start.',
    labelNames: ['path', 'result'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { path, result, count } of facilitated.all()) this.inc({ path, result }, count)
    },
  })
}

function attentionGauge(store: Store, registry: Registry): void {
  new Gauge({
    name: 'souk_attention_items',
    help: 'Items that need the operator, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      this.set({ kind: 'unserved_period' }, await store.table(unservedPeriods).count('open', []))
      // Disputes without a default ruling. Their next event is a reminder, so they wait for the operator.
      this.set({ kind: 'undecided_dispute' }, await store.table(jobs).count('due', ['remind']))
    },
  })
}

function moneyGauge(store: Store, registry: Registry): void {
  new Gauge({
    name: 'souk_money_usdc',
    help: 'Money of the marketplace in its books, by place: chain (pay-to wallet and escrow), or cold address.',
    labelNames: ['place'],
    registers: [registry],
    async collect() {
      for (const [place, id] of [
        ['chain', account.ext],
        ['cold', account.cold],
      ] as const) {
        const { balance = 0n } = (await store.table(accounts).get(id)) ?? {}
        this.set({ place }, Number(-balance) / MICRO)
      }
    },
  })
}

function storeGauges(store: Store, registry: Registry): void {
  const { disk } = store.stats()
  const ofDisk = [
    ['souk_store_disk_bytes', 'Bytes of the rows on the disk.', () => store.stats().disk?.sizeBytes],
    ['souk_store_disk_transactions', 'Last transaction on the disk.', () => store.stats().disk?.reflects],
    ['souk_store_front_changes', 'Changes that are in memory and journal only.', () => store.stats().disk?.waiting],
  ] as const
  const shown = [
    ['souk_journal_bytes', 'Bytes of the journal since its last snapshot.', () => store.stats().journalBytes],
    ['souk_store_records', 'Number of records in the store.', () => store.stats().records],
    ['souk_store_transactions', 'Sequence number of the last transaction.', () => store.stats().seq],
    ['souk_anonymous_memory_bytes', 'Memory without mapped files, which the system can take back.', anonymousBytes],
    ...(disk ? ofDisk : []),
  ] as const
  for (const [name, help, read] of shown) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set((await read()) ?? Number.NaN)
      },
    })
  }
}

const MICRO = 1_000_000
const KILOBYTE = 1_024

/** @returns undefined if the system does not tell */
async function anonymousBytes(): Promise<number | undefined> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * KILOBYTE
}

/** Counts payments, cron runs and webhook attempts from committed rows, each once. */
function followRows(registry: Registry): Parameters<Store['subscribe']>[0] {
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  const paid = counter('souk_payments_total', 'Payments by the state they entered.', ['state', 'method'])
  const runs = counter('souk_cron_runs_total', 'Runs of scheduled jobs by result.', ['cron', 'result'])
  const tries = counter('souk_webhook_attempts_total', 'Webhook delivery attempts by result.', ['state'])
  const lastRuns = new Map<string, number>()

  const sawRun = ({ id, runs: [latest] }: CronRow) => {
    if (latest === undefined || lastRuns.get(id) === latest.at) return
    lastRuns.set(id, latest.at)
    runs.inc({ cron: id, result: latest.result })
  }
  return ({ writes }) => {
    for (const write of writes) {
      const payment = writtenRow(payments, write)
      if (payment) paid.inc({ state: payment.state, method: payment.method })
      const cron = writtenRow(crons, write)
      if (cron) sawRun(cron)
      const delivery = writtenRow(deliveries, write)
      if (delivery && delivery.tries > 0 && delivery.state !== 'dropped') tries.inc({ state: delivery.state })
    }
  }
}
