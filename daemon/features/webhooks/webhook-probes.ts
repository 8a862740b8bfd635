import { MINUTE_MS } from '../../../src/core/time.ts'
import { type CronRound, defineCron } from '../../crons/cron.ts'
import { type DueWork, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type PollRow, polls, type ServiceRow, services } from '../listings/rows.ts'
import { PROBE_AFTER_MS, updateHealth, updateHealthOfAll } from './health.ts'
import { endpointOf } from './queue.ts'
import { sendTest } from './test-message.ts'

/** Maximum test messages per run. `PROBES_AT_ONCE` of them run concurrently, for up to half a minute each. */
const PROBES_PER_RUN = 64
const PROBES_AT_ONCE = 16
const SCAN_ROWS = 500

type Run = Pick<CronRound, 'ctx' | 'now' | 'signal'>

const pollingWork: DueWork = {
  name: 'polling.end',
  due: ({ store }, now, limit) => store.read((t) => stoppedPolling(t, now, limit)),
  run: endPolling,
  nextDue: async () => null,
}

/**
 * Every minute, tests endpoints of new listings. A failed endpoint is tested again after an hour. The cron has no
 * `nextDue`, so a moved clock runs one test and not one per hour.
 */
export const webhookProbes = defineCron({
  name: 'webhook-probes',
  schedule: everyMinute,
  deadlineMs: 5 * MINUTE_MS,
  inHealth: false,
  async run(round) {
    await runDueWork([pollingWork], round)
    await sendProbes(round)
    return undefined
  },
})

/** Schedules tests for unhealthy listings that an older version stored without a test time. */
export async function scheduleForgotten({ store, clock }: Pick<Context, 'store' | 'clock'>): Promise<void> {
  for (const id of await forgotten(store)) await store.tx((t) => updateHealth(t, id, clock.now()))
}

async function forgotten(t: ReadTx): Promise<string[]> {
  const ids: string[] = []
  for await (const rows of eachPage(t.table(services), { index: 'status', prefix: ['active'], limit: SCAN_ROWS })) {
    ids.push(...rows.filter(isForgotten).map(({ id }) => id))
  }
  return ids
}

function isForgotten({ webhook_status, webhook_healthy, first_party_slug }: ServiceRow): boolean {
  return webhook_status === undefined && !webhook_healthy && first_party_slug === null
}

/** Tests endpoints concurrently: a hanging one delays no other. @throws Error if a test failed for a local reason */
async function sendProbes(run: Run): Promise<void> {
  const { ctx, now, signal } = run
  const due = await ctx.store.read((t) => dueProbes(t, now))
  const next = due[Symbol.iterator]()
  let failed = 0
  const worker = async () => {
    for (const id of next) {
      if (signal.aborted) return
      await probe(run, id).catch((error: unknown) => {
        failed += 1
        ctx.log.error({ source: 'cron', work: 'webhook.probe', id, err: String(error) }, 'an item failed')
      })
    }
  }
  await Promise.all(Array.from({ length: PROBES_AT_ONCE }, worker))
  if (failed > 0 && !signal.aborted) throw new Error(`${failed} of ${due.length} endpoint tests failed; see the log`)
}

async function dueProbes(t: ReadTx, now: number): Promise<string[]> {
  const page = await t.table(services).page('probe', ['active'], { limit: PROBES_PER_RUN })
  return page.rows.filter(({ probe_at = now }) => probe_at <= now).map(({ id }) => id)
}

async function probe({ ctx, now, signal }: Run, serviceId: string): Promise<void> {
  const endpoint = await ctx.store.read(async (t) => {
    const service = await t.table(services).get(serviceId)
    return service && endpointOf(t, { participantId: service.provider_id, serviceId })
  })
  if (!endpoint) return ctx.store.tx((t) => updateHealth(t, serviceId, now))
  await sendTest(ctx, {
    serviceId,
    endpoint,
    now,
    signal,
    begin: (write) =>
      commit(ctx, async (t, draw) => {
        await postpone(t, serviceId, now + PROBE_AFTER_MS)
        await write(t, draw)
      }),
  })
}

/** Schedules the next test before the present one runs, so that a crash does not repeat the present one. */
async function postpone(t: Tx, id: string, at: number): Promise<void> {
  const service = await t.table(services).getForUpdate(id)
  if (service?.probing) await t.table(services).put({ ...service, probe_at: at })
}

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
async function stoppedPolling(t: ReadTx, now: number, limit: number): Promise<string[]> {
  const page = await t.table(polls).page('live', [], { limit })
  return page.rows.filter(({ polled_at }) => now - polled_at > POLLING_MS).map(({ id }) => id)
}

/** Marks a provider's listings without an endpoint as unhealthy. Does nothing if the provider has polled again. */
function endPolling({ store }: Pick<Context, 'store'>, id: string, now: number): Promise<void> {
  return store.tx(async (t) => {
    const locked = await t.table(polls).getForUpdate(id)
    if (!locked?.live || now - locked.polled_at <= POLLING_MS) return
    await t.table(polls).put({ ...locked, live: false })
    await updateHealthOfAll(t, id, now)
  })
}
