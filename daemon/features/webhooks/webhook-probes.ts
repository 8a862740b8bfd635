import { MINUTE_MS } from '../../../src/core/time.ts'
import { type CronRound, defineCron } from '../../crons/cron.ts'
import { type DueWork, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { PROBE_AFTER_MS, updateHealth } from './health.ts'
import { endPolling, stoppedPolling } from './polling.ts'
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
  for (const id of await store.read(forgotten)) await store.tx((t) => updateHealth(t, id, clock.now()))
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
