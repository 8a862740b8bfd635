import { CALL_HOURS } from '../../../src/api/sections/admin-figures.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Store, type Write, writtenRow } from '../../store/port.ts'
import { answers, payments } from '../payments/rows.ts'

/** What an endpoint was paid for: how often, and how much in all. */
export type Paid = { readonly times: number; readonly amount: Usdc }

/** By endpoint and hour of wall time, since the daemon began, from the payments as they become durable. */
export type PaidFigures = { readonly within: (endpoint: string, hours: number) => Paid }

export const paidFigures = defineResource<PaidFigures>('paid-figures')

type Sources = { readonly store: Pick<Store, 'subscribe'>; readonly clock: Pick<Clock, 'wall'> }

type Hour = { hour: number; times: number; amount: Usdc }

export function openPaidFigures({ store, clock }: Sources): PaidFigures & { close(): void } {
  const rows = new Map<string, (Hour | undefined)[]>()
  const hourNow = () => Math.floor(clock.wall() / HOUR_MS)

  const close = store.subscribe(({ writes }) => {
    const served = servedIn(writes)
    if (served.size === 0) return
    for (const write of writes) {
      const payment = writtenRow(payments, write)
      // A call that a period pays for sells nothing anew.
      if (payment?.state !== 'fulfilled' || payment.method === 'subscription' || !served.has(payment.id)) continue
      const ring = rows.get(payment.endpoint) ?? new Array<Hour | undefined>(CALL_HOURS).fill(undefined)
      rows.set(payment.endpoint, ring)
      const hour = hourNow()
      const held = ring[hour % CALL_HOURS]
      const { times, amount } = held?.hour === hour ? held : { times: 0, amount: ZERO }
      ring[hour % CALL_HOURS] = { hour, times: times + 1, amount: usdc(amount + payment.price) }
    }
  })

  return {
    close,
    within(endpoint, hours) {
      const first = hourNow() - hours + 1
      const recent = (rows.get(endpoint) ?? []).filter((one) => one !== undefined && one.hour >= first)
      return {
        times: recent.reduce((sum, one) => sum + (one?.times ?? 0), 0),
        amount: usdc(recent.reduce((sum, one) => sum + (one?.amount ?? 0n), 0n)),
      }
    },
  }
}

/** Payments that were served in a transaction: with its answer, each is so once, however often its row is written. */
function servedIn(writes: readonly Write[]): ReadonlySet<string> {
  return new Set(writes.flatMap((write) => writtenRow(answers, write)?.id ?? []))
}
