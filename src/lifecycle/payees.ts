import * as z from '../cli/params.ts'
import { isAddress, toWallet } from '../core/hex.ts'
import type { Payee } from '../model/words.ts'

const SHARE = /^(operator|0x[0-9a-f]{40})=(\d{1,3})(?:\.(\d{1,2}))?$/i
const WHOLE_BPS = 10_000n
const BPS_PER_PCT = 100n

/** Shares as they are typed: `operator=60,0x…=40`, in percent with at most 2 decimals. */
export const Payees = z.string().refine(
  (text) => fault(text) === undefined,
  (text) => fault(text) ?? 'cannot be read',
)

/** The shares of a text that `Payees` took. */
export function payeesOf(text: string): Payee[] {
  return text.split(',').map((part) => {
    const [, to = '', percent = '', decimals = ''] = SHARE.exec(part) ?? []
    return {
      to: isAddress(to) ? toWallet(to) : 'operator',
      bps: BigInt(percent) * BPS_PER_PCT + BigInt(decimals.padEnd(2, '0')),
    }
  })
}

function fault(text: string): string | undefined {
  const stranger = text.split(',').find((part) => !SHARE.test(part))
  if (stranger !== undefined) return `must be like operator=60,0x…=40; "${stranger}" is not`
  const payees = payeesOf(text)
  if (new Set(payees.map(({ to }) => to)).size < payees.length) return 'must name each payee once'
  if (payees.some(({ bps }) => bps === 0n)) return 'must give each payee more than 0'
  const sum = payees.reduce((total, { bps }) => total + bps, 0n)
  return sum === WHOLE_BPS ? undefined : `must sum to 100 percent, not ${Number(sum) / Number(BPS_PER_PCT)}`
}
