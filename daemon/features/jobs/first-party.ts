import { AppError } from '../../../src/core/error.ts'
import { compute } from '../../engines/compute.ts'
import { type FirstParty, firstParty } from '../../engines/first-party.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import { writtenRow } from '../../store/port.ts'
import { services } from '../listings/rows.ts'
import { payments } from '../payments/rows.ts'
import { sendRefunds } from './acts.ts'
import { lockJob } from './apply.ts'
import { applyReport, checkReport, type JobReport } from './report.ts'
import { type JobRow, jobs, NO_DELIVERABLES, readInput } from './rows.ts'
import { placeOf } from './view.ts'

/** Maximum first-party jobs that run concurrently. */
const MAX_RUNNING = 4
const SCAN_ROWS = 500
/** Job statuses in which the provider must still deliver. */
const waiting = ['dispatched', 'in_progress'] as const

/**
 * Runs first-party services for dispatched jobs, as any provider does. Interrupted jobs run again after a restart.
 * Tells `compute`, which limits unpaid work, what work was refunded. Ends when `Context.stopping` is aborted.
 */
export async function startFirstParty(ctx: Context): Promise<void> {
  const queue: string[] = []
  const known = new Set<string>()

  function take(id: string): void {
    if (known.has(id) || ctx.stopping.aborted) return
    known.add(id)
    queue.push(id)
    if (known.size - queue.length < MAX_RUNNING) next()
  }

  function next(): void {
    const id = ctx.stopping.aborted ? undefined : queue.shift()
    if (id === undefined) return
    inBackground(ctx, 'house', async () => {
      try {
        await work(ctx, id)
      } finally {
        known.delete(id)
        next()
      }
    })
  }

  const { unpaid } = compute.of(ctx)
  const unsubscribe = ctx.store.subscribe(({ writes }) => {
    for (const write of writes) {
      const job = writtenRow(jobs, write)
      if (job?.status === 'dispatched') take(job.id)
      const isBack = job?.escrow_status === 'refunded' || writtenRow(payments, write)?.state === 'released'
      if (isBack) void unpaid.wentBack(write.key)
    }
  })
  ctx.stopping.addEventListener('abort', unsubscribe, { once: true })
  for (const status of waiting) await scan(ctx, status, take)
}

/** Queues jobs that were unfinished when the daemon stopped. */
async function scan(ctx: Context, status: JobRow['status'], take: (id: string) => void): Promise<void> {
  for await (const rows of eachPage(ctx.store.table(jobs), { index: 'status', prefix: [status], limit: SCAN_ROWS })) {
    for (const job of rows) if (await serviceOf(ctx, job)) take(job.id)
  }
}

/** The first-party service of a job; undefined if the job has none, or if the service is not available. */
async function serviceOf(ctx: Context, { service_id }: JobRow): Promise<FirstParty | undefined> {
  const service = await ctx.store.table(services).get(service_id)
  return service && service.first_party_slug !== null ? firstParty.of(ctx)(service.first_party_slug) : undefined
}

async function work(ctx: Context, id: string): Promise<void> {
  const job = await ctx.store.table(jobs).get(id)
  const own = job && (await serviceOf(ctx, job))
  if (!job || !own) return
  if (job.status === 'dispatched') await report(ctx, id, { status: 'in_progress' })
  const ending = await run(ctx, own, job)
  if (ending) await report(ctx, id, ending)
}

/** Runs a job. Undefined if the daemon stops during the run; the job then runs again after the next start. */
async function run(ctx: Context, own: FirstParty, job: JobRow): Promise<JobReport | undefined> {
  try {
    const input = await readInput(placeOf(ctx), job)
    return {
      status: 'completed',
      deliverable: await own.run(input, ctx.stopping, { who: job.buyer_wallet, id: job.id }),
    }
  } catch (error) {
    if (ctx.stopping.aborted) return undefined
    ctx.log.warn({ source: 'house', job: job.id, err: String(error) }, 'a first-party service failed')
    return { status: 'failed', notes: error instanceof AppError ? error.message : 'Internal error; it was logged.' }
  }
}

/** Delivers a result. A result that does not match the listing's schema counts as a failure. */
async function report(ctx: Context, id: string, said: JobReport): Promise<void> {
  const seen = await ctx.store.table(jobs).get(id)
  if (!seen || !isWaiting(seen)) return
  const { report: checked, kept } = await promised(ctx, seen, said)
  const at = ctx.clock.now()
  const written = await commit(ctx, async (t, draw) => {
    const job = await lockJob(t, id)
    if (!job || !isWaiting(job)) return undefined
    return applyReport(t, draw, { job, report: checked, kept, at })
  })
  if (written) sendRefunds(ctx, written)
}

function isWaiting({ status }: JobRow): boolean {
  return waiting.some((one) => one === status)
}

async function promised(ctx: Context, job: JobRow, said: JobReport) {
  try {
    return { report: said, kept: await checkReport(ctx, job, said) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { report: { status: 'failed', notes: error.message } as const, kept: NO_DELIVERABLES }
  }
}
