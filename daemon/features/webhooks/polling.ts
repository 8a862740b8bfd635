import { MINUTE_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { type PollRow, polls } from '../listings/rows.ts'
import { updateHealthOfAll } from './health.ts'

/** How long a provider without an endpoint counts as reachable after it last read events (decisions §7). */
const POLLING_MS = 2 * MINUTE_MS
/** Minimum time between two records of a provider's polling. */
const NOTED_EVERY_MS = MINUTE_MS

const isNoted = (poll: PollRow | undefined, now: number) => poll?.live === true && now - poll.polled_at < NOTED_EVERY_MS

/** Records that a provider polls. A failure is logged and does not affect the provider's request. */
export async function notePoll({ store, clock, log }: Context, participantId: string): Promise<void> {
  const now = clock.now()
  try {
    if (isNoted(await store.table(polls).get(participantId), now)) return
    const reader = await store.table(participants).get(participantId)
    if (!reader || reader.type === 'agent') return
    await store.tx(async (t) => {
      const table = t.table(polls)
      const locked = await table.getForUpdate(participantId)
      if (isNoted(locked, now)) return
      const next = { polled_at: now, live: true }
      await (locked ? table.put({ ...locked, ...next }) : table.insert({ id: participantId, ...next }))
      if (!locked?.live) await updateHealthOfAll(t, participantId, now)
    })
  } catch (error) {
    log.warn({ source: 'webhook', participant: participantId, err: String(error) }, 'a poll was not recorded')
  }
}

/** Providers that stopped polling, longest ago first. */
export async function stoppedPolling(t: ReadTx, now: number, limit: number): Promise<string[]> {
  const page = await t.table(polls).page('live', [], { limit })
  return page.rows.filter(({ polled_at }) => now - polled_at > POLLING_MS).map(({ id }) => id)
}

/** Marks a provider's listings without an endpoint as unhealthy. Does nothing if the provider has polled again. */
export function endPolling({ store }: Pick<Context, 'store'>, id: string, now: number): Promise<void> {
  return store.tx(async (t) => {
    const locked = await t.table(polls).getForUpdate(id)
    if (!locked?.live || now - locked.polled_at <= POLLING_MS) return
    await t.table(polls).put({ ...locked, live: false })
    await updateHealthOfAll(t, id, now)
  })
}
