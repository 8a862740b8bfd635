import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import type { EscrowDeal, EscrowPort } from '../../ports/chain/escrow.ts'
import { everyRow } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { type DealRow, deals } from '../escrow/rows.ts'
import { type Check, checkOf } from './checks.ts'
import { SLICE_ROWS } from './slices.ts'

/** Number of deals read from the contract concurrently. */
const READ_AT_ONCE = 64

/** Deals whose money the contract holds or will receive. Call this within one read transaction. */
export function openDealsOf(t: ReadTx): Promise<DealRow[]> {
  return everyRow(t.table(deals), { index: 'open', prefix: [], limit: SLICE_ROWS })
}

/** Money released by external calls that are not final yet. It may include the marketplace's share. */
export function awaitedOf(open: readonly DealRow[]): bigint {
  const gone = open.filter(({ taken }) => taken !== undefined && taken.state !== 'released')
  return gone.reduce((sum, deal) => sum + amountOf(deal), 0n)
}

function awaitedWords(open: readonly DealRow[]): string {
  const words = open.flatMap((deal) =>
    deal.taken === undefined ? [] : [`${formatAmount(amountOf(deal))} of ${deal.id} (${deal.taken.state})`],
  )
  return words.length === 0
    ? ''
    : `; external calls released ${words.join(', ')}: not in the sums until the block is final`
}

/**
 * Compares the money in the contract with the deals in the books. If the sums differ, reads each deal and lists the
 * faults. A difference is no fault while a call is in progress or an external call is not final.
 */
export async function escrowCheck(port: EscrowPort, held: Usdc, open: readonly DealRow[]): Promise<Check> {
  const said = open.filter(({ state }) => state === 'held').reduce((sum, deal) => sum + amountOf(deal), 0n)
  const compared = `the contract holds ${formatAmount(held)} for ${open.length} jobs, as the books say${awaitedWords(open)}`
  if (said === held) return checkOf('escrow', compared, [])
  const faults: string[] = []
  let found = 0n
  for (let at = 0; at < open.length; at += READ_AT_ONCE) {
    const slice = open.slice(at, at + READ_AT_ONCE)
    const seen = await Promise.all(slice.map(async (deal) => ({ deal, seen: await port.dealOf(deal.id) })))
    for (const one of seen) {
      if (one.seen.state === 'held') found += one.seen.net + one.seen.fee
      faults.push(...dealFault(one))
    }
  }
  const rest = held - found
  if (rest !== 0n) faults.push(`the contract holds ${formatAmount(usdc(rest))} that belongs to none of these jobs`)
  return checkOf('escrow', compared, faults)
}

const endOf = { release: 'released', refund: 'refunded', resolve: 'split' } as const

function dealFault({ deal, seen }: { readonly deal: DealRow; readonly seen: EscrowDeal }): string[] {
  const isUnderWay =
    (deal.state === 'none' && deal.sent && seen.state === 'held') ||
    (deal.wants_end !== null && seen.state === endOf[deal.wants_end]) ||
    deal.taken?.state === seen.state
  if (deal.state === seen.state || isUnderWay) return []
  return [
    `the books have ${formatAmount(amountOf(deal))} of ${deal.id} as ${deal.state}, the contract as ${seen.state}`,
  ]
}

function amountOf({ net, fee }: DealRow): Usdc {
  return usdc(net + fee)
}
