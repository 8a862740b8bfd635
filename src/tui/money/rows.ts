import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { ask, fetching } from '../shell/queries.ts'
import { text } from '../shell/read.ts'

/** Status of the connected chain. A sandbox has no chain. */
export type ChainHead = { readonly health: 'ok' | 'degraded' | 'down'; readonly words: string; readonly fault: string }

/** Fetches the newest block and the number of pending transactions. */
export const fetchChain = fetching('getChain', { query: { limit: '1' } }, (told): ChainHead | null => {
  const { mode, head, queue, health, faults, gas_key: gas } = told
  if (mode === 'sandbox') return null
  const at = head === null ? 'no block yet' : `block ${head.block}, ${head.age_seconds} s`
  const waits = `${queue.waiting} queued, ${queue.in_flight} not in a block yet`
  const left = gas === null ? '' : `   gas for ${gas.payments}`
  return { health, words: `${text(mode)}   ${at}   ${waits}${left}`, fault: text(faults[0]?.sentence) }
})

/** Fetches what sales cost in gas; null in a sandbox, or without a price of ETH. */
export const fetchCosts = fetching('getChainCosts', {}, ({ sales, gas, fees, below }): string | null => {
  if (gas === null) return null
  const least = sales.map(
    ({ kind, break_even: price }) => `${kind.replace('_', '-')} ${price === null ? '?' : `$${price}`}`,
  )
  const low = below.length === 0 ? '' : `   ${below.length} listings below`
  return `break even: ${least.join(', ')}${low}   30 days: gas $${gas}, fees $${fees}`
})

export type Audit = { readonly ok: boolean; readonly words: string }

/** Recomputes the books. Costly, so it runs only on request. */
export function audit(link: Link): Promise<Outcome<Audit>> {
  return ask(link, { name: 'getAudit', asked: {} }, (report) => ({ ok: report.ok, words: auditWords(report) }))
}

function auditWords({ checks, transactions }: WireAnswer<'getAudit'>): string {
  const broken = checks.find(({ ok }) => !ok)
  if (broken !== undefined) return `${text(broken.name)}: ${text(broken.detail)}`
  return `${checks.length} checks over ${transactions} transactions`
}
