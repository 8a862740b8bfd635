import { z } from 'zod'
import type { Context } from '../../kernel/context.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { settled } from './apply.ts'
import { extendCoverage } from './coverage.ts'
import { putSubscription, type SubscriptionRow, subscriptions } from './rows.ts'

/*
 * Platform pauses do not shorten periods (decisions §9). When a pause ends, each running period is extended by the
 * length of the pause, and the next period starts that much later.
 */

/** Settings key of the pauses for which periods have not been extended yet. */
const PAUSES = 'subscription_pauses'
const PAGE_ROWS = 100

/** Business time. */
const Pause = z.strictObject({ from: z.int(), to: z.int() })
type Pause = z.infer<typeof Pause>
const Pauses = z.array(Pause)

/** Records a pause, in the transaction that ends the pause. */
export async function notePause(t: Tx, pause: Pause): Promise<void> {
  if (pause.to <= pause.from) return
  const pauses = await readPauses(t)
  await putSetting(t, PAUSES, [...pauses, pause])
}

async function readPauses(t: ReadTx): Promise<readonly Pause[]> {
  const row = await t.table(settings).get(PAUSES)
  return row ? Pauses.parse(row.value) : []
}

/** Extends each live subscription by the recorded pauses. Until then charges wait, even after a crash. */
export async function giveBackPauses(ctx: Context): Promise<void> {
  const pauses = await ctx.store.read(readPauses)
  const last = pauses.at(-1)
  if (!last) return
  const live = { index: 'newest', prefix: [true], limit: PAGE_ROWS } as const
  for await (const page of eachPage(ctx.store.table(subscriptions), live)) {
    for (const { id } of page) await commit(ctx, (t) => extend(t, id, pauses))
  }
  await commit(ctx, async (t) => {
    const left = (await readPauses(t)).filter(({ to }) => to > last.to)
    await t.table(settings).getForUpdate(PAUSES)
    await (left.length === 0
      ? t.table(settings).delete(PAUSES)
      : t.table(settings).put({ id: PAUSES, value: [...left] }))
  })
}

async function extend(t: Tx, id: string, pauses: readonly Pause[]): Promise<void> {
  const row = await t.table(subscriptions).getForUpdate(id)
  const last = pauses.at(-1)
  if (!row?.live || !last) return
  const lostMs = lostTo(row, pauses)
  if (lostMs === 0) return
  const end = row.current_period_end + lostMs
  const { past_due_since: since } = row
  const extended = {
    ...row,
    current_period_end: end,
    // All later periods count from the new end.
    anchor_at: end,
    period_number: -1,
    past_due_since: since === null ? null : since + lostMs,
    pauses_until: last.to,
    updated_at: last.to,
  }
  await extendCoverage(t, await putSubscription(t, settled(extended, last.to)))
}

/** Milliseconds of pauses for which a subscription has not been extended yet. */
export function lostTo(row: SubscriptionRow, pauses: readonly Pause[]): number {
  const { status, lapsed, current_period_start: start, current_period_end: end, pauses_until: until = 0 } = row
  const isResting = lapsed || status === 'paused'
  return (
    pauses
      .filter(({ to }) => to > until)
      // In a paused or lapsed subscription, a period that ended before the platform pause is not extended.
      .filter(({ from }) => !(isResting && end <= from))
      .reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, start)), 0)
  )
}
