import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ChainEvent, ChainPort } from '../../ports/chain/chain.ts'

const BLOCK_SECONDS = [0.01, 0.05, 0.25, 1, 2, 4, 8, 15, 60, 300]
const ASK_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 5]
const BATCH_ITEMS = [1, 2, 5, 10, 25, 50, 100]

type Chain = Pick<ChainPort, 'status' | 'observe'>

/** Metrics of a connected chain; none for a sandbox ledger. */
export function countChain(chain: Chain, registry: Registry): () => void {
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
