import * as z from '../cli/params.ts'
import { isAddress, toWallet } from '../core/hex.ts'
import { formatAmount, parseAmount } from '../core/money.ts'
import { compact } from '../core/record.ts'
import type { FacilitatorConfig } from '../model/payment.ts'

const MOST_PAYEES = 100
const MOST_GAS = 1_000_000_000_000

const Payee = z.string().refine(isAddress, 'must be an address like 0x…, of 40 hex digits')
const Value = z
  .string()
  .refine((text) => (parseAmount(text) ?? 0n) > 0n, `must be an amount of USDC like ${formatAmount(1_000n)}`)

export const facilitatorOptions = {
  facilitator: z.flag({ description: 'verify and settle x402 payments for other servers' }),
  facilitatorPayTo: z
    .array(Payee)
    .max(MOST_PAYEES)
    .default([])
    .meta({ description: 'wallet to which any facilitator key may settle payments', value: 'wallet' }),
  facilitatorMinValue: Value.optional().meta({
    description: 'smallest payment to settle, in USDC (default: 0.001)',
    value: 'amount',
  }),
  facilitatorDailyGas: z.int().min(1).max(MOST_GAS).optional().meta({
    description: 'gas limit per key and day (default: 80000000)',
    value: 'gas',
  }),
} as const

const Facilitating = z.object(facilitatorOptions)

/** The daemon's configuration for the facilitator; undefined if the facilitator is off. */
export function facilitatorConfig(launch: z.output<typeof Facilitating>): { facilitator?: FacilitatorConfig } {
  if (!launch.facilitator) return {}
  const { facilitatorPayTo: payees, facilitatorMinValue: least, facilitatorDailyGas: dailyGas } = launch
  const minValue = least === undefined ? undefined : parseAmount(least)
  return { facilitator: { payTo: payees.map(toWallet), ...compact({ minValue, dailyGas }) } }
}
