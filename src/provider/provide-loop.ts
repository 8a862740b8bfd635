import { EventEmitter, on } from 'node:events'
import { ownId } from '../cli/account.ts'
import { CliError } from '../cli/exit.ts'
import type { FetchedJob } from '../cli/nouns/jobs/jobs.ts'
import { findListing } from '../cli/nouns/services/services.ts'
import { openSession, type Session } from '../cli/session.ts'
import { isId } from '../client/wire-id.ts'
import { AppError } from '../core/error.ts'
import { green, yellow } from '../text/text.ts'
import {
  type CheckedShop,
  carryOut,
  checkShop,
  type ListingPlan,
  type Offered,
  ownListings,
  planListing,
  type ShopHost,
} from './checked-shop.ts'
import { rehearse } from './dry-run.ts'
import { openLine, type ProviderLine, readPage } from './follow.ts'
import { createGate, followEdits, listedFacts, type WorkGate } from './follow-edits.ts'
import type { ProviderNotice, ShopFacts } from './notices.ts'
import { buyOnce, NoPractice, type Practice } from './self-test.ts'
import { becomeSeller, modesOf } from './shop.ts'
import { doJob, type Trade, type WorkerNotice } from './worker.ts'

/** Statuses of a delivered job. */
const DELIVERED: readonly string[] = ['completed', 'verified', 'released']

/** Runs a provider: first offers the listing, then does jobs until ctrl-c. With `--once`, ends when no job waits. */
export async function* runShop(context: ShopHost): AsyncGenerator<ProviderNotice> {
  const shop = await checkShop(context)
  if (context.globals.dryRun) {
    for await (const facts of rehearse(context, shop)) yield stamped(context, facts)
    return
  }
  const session = await sellerSession(context, shop)
  const participant_id = await ownId(session)
  const named = await ownNamed(session, { names: context.args.services, owner: participant_id })
  const listing = shop.written && (await offer(session, shop.written))
  if (listing) yield stamped(context, listedFacts(listing.offered, listing.plan))
  const sold = [...named, ...(listing ? [listing.offered] : [])].map(({ id, name }) => ({ service_id: id, name }))
  const services = [...new Map(sold.map((one) => [one.service_id, one])).values()]
  yield stamped(context, { event: 'providing', services, participant_id, workers: context.options.concurrency })
  const trial = listing && (await practise({ context, shop, session, ...listing }))
  if (trial) yield stamped(context, trial.facts)
  if (trial?.facts.state === 'failed') return giveUp(context, session, trial)
  const ids = new Set(services.map(({ service_id }) => service_id))
  yield* workUnder({ context, shop, ids, listed: listing?.offered }, session, trial)
}

function stamped({ io }: Pick<ShopHost, 'io'>, facts: ShopFacts): ProviderNotice {
  return { ...facts, at: new Date(io.now()).toISOString() }
}

async function sellerSession(context: ShopHost, { written }: CheckedShop): Promise<Session> {
  if (written !== undefined) {
    const session = await openSession(context)
    await becomeSeller(context, session, await modesOf(session))
  }
  return context.session()
}

type Naming = { readonly names: readonly string[]; readonly owner: string }

async function ownNamed(session: Session, { names, owner }: Naming): Promise<readonly Offered[]> {
  const listings = await Promise.all(names.map((name) => findListing(session, name)))
  for (const { id, name, provider_id } of listings) {
    if (provider_id !== owner) {
      throw new CliError('auth', `${name} (${id}) is not a listing of yours.`, { next: ['souk account show'] })
    }
  }
  return listings
}

type OfferedListing = { readonly offered: Offered; readonly plan: ListingPlan }

async function offer(session: Session, written: NonNullable<CheckedShop['written']>): Promise<OfferedListing> {
  const plan = planListing(written, await ownListings(session))
  return { offered: await carryOut(session, plan, written.isActive), plan }
}

type Practised = Extract<ShopFacts, { event: 'practice' }>
type Trial = { readonly facts: Practised; readonly practice?: Practice }
type Practising = OfferedListing & { readonly context: ShopHost; readonly shop: CheckedShop; readonly session: Session }

/** Buys the provider's own listing with test money; undefined if no test purchase is wanted. */
async function practise({ context, shop, session, offered, plan }: Practising): Promise<Trial | undefined> {
  const { practice: wanted } = context.options
  if (wanted === 'never' || offered.status !== 'active' || (wanted === 'changed' && plan.change === 'unchanged')) {
    return undefined
  }
  const facts = { event: 'practice', service_id: offered.id, job_id: null, price: null, reason: null } as const
  const { url, fingerprint } = session.target
  const stage = { url, fingerprint, adminKey: '', wall: context.io.now }
  const price = offered.agent_price.fixed?.replace('$', '') ?? null
  try {
    const input = shop.input ?? (await exampleFor(offered))
    const practice = await buyOnce(stage, { modes: await modesOf(session), service: offered.id, price, input })
    return { facts: { ...facts, state: 'bought', job_id: practice.job, price: practice.price }, practice }
  } catch (error) {
    if (error instanceof NoPractice) return { facts: { ...facts, state: 'none', reason: error.message } }
    if (!(error instanceof AppError)) throw error
    return { facts: { ...facts, state: 'failed', reason: error.message } }
  }
}

async function exampleFor({ input_schema }: Offered): Promise<Readonly<Record<string, unknown>>> {
  const { exampleInput } = await import('../schema/example.ts')
  const input = exampleInput(input_schema)
  if (input === undefined)
    throw new NoPractice('no example matches its input_schema; give one with --practice-input FILE')
  return input
}

/** The result of the test purchase, if the notice says that the purchased job has ended; otherwise undefined. */
async function verdictOn(trial: Trial | undefined, item: ProviderNotice): Promise<Practised | undefined> {
  if (trial?.practice === undefined || !('job_id' in item) || item.job_id !== trial.practice.job) return undefined
  if (item.event !== 'delivered' && item.event !== 'failed' && item.event !== 'over') return undefined
  const { status, notes } = await trial.practice.look()
  if (DELIVERED.includes(status)) return { ...trial.facts, state: 'passed' }
  const told = item.event === 'failed' ? item.reason : (notes ?? `its buyer sees it ${status}`)
  return { ...trial.facts, state: 'failed', reason: told }
}

/** Deactivates a listing whose test failed. */
async function giveUp(context: ShopHost, session: Session, { facts }: Trial): Promise<void> {
  await session.call('updateService', { params: { id: facts.service_id }, body: { status: 'inactive' } })
  context.io.say(`${yellow('!')} ${facts.service_id} was deactivated, because it cannot be delivered`)
  context.exit('failure')
}

type Floor = {
  readonly context: ShopHost
  readonly shop: CheckedShop
  readonly ids: ReadonlySet<string>
  readonly listed: Offered | undefined
}

async function* workUnder(floor: Floor, session: Session, trial: Trial | undefined): AsyncGenerator<ProviderNotice> {
  const { context } = floor
  let failed = false
  for await (const item of workOn(floor)) {
    failed ||= item.event === 'failed'
    yield item
    const verdict = await verdictOn(trial, item)
    if (verdict === undefined) continue
    yield stamped(context, verdict)
    if (verdict.state === 'failed') return giveUp(context, session, { facts: verdict })
  }
  if (context.options.once && failed && !context.signal.aborted) context.exit('failure')
}

/** Does jobs until it is aborted, or until the caller stops reading. Jobs that have already started are finished. */
async function* workOn({ context, shop, ids, listed }: Floor): AsyncGenerator<ProviderNotice> {
  const end = new AbortController()
  const signal = AbortSignal.any([context.signal, end.signal])
  const host: ShopHost = { ...context, signal }
  const said = new EventEmitter<{ notice: [ProviderNotice]; error: [unknown]; end: [] }>()
  // Notices made before the end or an error still come out.
  const notices = on(said, 'notice', { close: ['end'] })
  said.on('error', () => undefined) // `notices` throws the first one
  const gate = createGate()
  const asking = await openLine(host, { signal, onOutage: ({ state, attempt }) => tellOutage(context, state, attempt) })
  const fail = (error: unknown) => void said.emit('error', error)
  const working = work({ host, shop, ids, gate, asking }, (notice) => void said.emit('notice', notice))
  const ended = working.then(() => void said.emit('end'), fail)
  const say = (facts: ShopFacts) => void said.emit('notice', stamped(context, facts))
  if (context.options.watch) {
    void followEdits({ host, shop, listed, line: asking, gate, say, signal }).catch(fail)
  }
  try {
    for await (const [notice] of notices) yield notice
  } finally {
    end.abort()
    await ended
  }
}

type Working = {
  readonly host: ShopHost
  readonly shop: CheckedShop
  readonly ids: ReadonlySet<string>
  readonly gate: WorkGate
  readonly asking: ProviderLine
}

/** Starts jobs while fewer than `--concurrency` run. After the signal fires, waits for the jobs that still run. */
async function work({ host, shop, ids, gate, asking }: Working, say: (notice: WorkerNotice) => void): Promise<void> {
  const { options: wanted, signal, io } = host
  const trade = await tradeOf(host, shop, say)
  const busy = new Set<Promise<void>>()
  const faults: unknown[] = []
  const begin = async (id: string) => {
    await gate.passed(signal)
    if (!signal.aborted) await doJob(trade, id)
  }
  try {
    for await (const id of ordersOf({ line: asking, services: ids, signal, once: wanted.once })) {
      const done: Promise<void> = begin(id)
        .catch((error: unknown) => void faults.push(error))
        .finally(() => busy.delete(done))
      busy.add(done)
      if (busy.size >= wanted.concurrency) await Promise.race(busy)
      if (faults.length > 0 || signal.aborted) break
    }
  } catch (error) {
    if (!signal.aborted) faults.push(error)
  }
  if (signal.aborted && busy.size > 0) io.say(`finishing running jobs: ${busy.size} (ctrl-c again to stop now)`)
  await Promise.all(busy)
  if (faults.length > 0) throw faults[0]
}

function tellOutage({ io }: ShopHost, state: 'lost' | 'back', attempt: number): void {
  if (state === 'back') io.say(`${green('●')} connected again`)
  else if (attempt === 1) io.say(`${yellow('!')} the instance does not respond, retrying …`)
}

async function tradeOf(host: ShopHost, shop: CheckedShop, say: (said: WorkerNotice) => void): Promise<Trade> {
  const { options: wanted, io, system, signal } = host
  return {
    // This connection has a signal of its own, so that ctrl-c lets running jobs finish. A second ctrl-c exits.
    line: await openLine(host, { signal: new AbortController().signal }),
    work: {
      line: wanted.exec,
      shell: wanted.shell,
      cwd: wanted.cwd,
      env: shop.env,
      deliver: shop.deliver,
      timeoutMs: wanted.timeout,
      tmpDir: system.tmpDir,
      now: io.now,
    },
    retries: wanted.retries,
    retryMs: wanted.retryDelay,
    sleep: system.sleep,
    stop: signal,
    say,
    log: (line) => io.debug(line, 'verbose'),
  }
}

const PAGE_ROWS = 100
const WAITING_JOBS_MAX = 100_000

type Orders = {
  readonly line: ProviderLine
  readonly services: ReadonlySet<string>
  readonly signal: AbortSignal
  /** Yields only the jobs that wait now, then ends. */
  readonly once: boolean
}

/**
 * Yields each job once: first those that wait, then new ones. Reads the cursor before the waiting jobs, so that no job
 * is missed.
 */
export async function* ordersOf(orders: Orders): AsyncGenerator<string> {
  const seen = new Set<string>()
  for await (const { service_id, job_id } of sentJobs(orders)) {
    // The id becomes part of paths and environment variables, so it must be valid.
    if (!orders.services.has(service_id) || seen.has(job_id) || !isId('job', job_id)) continue
    seen.add(job_id)
    yield job_id
  }
}

type Sent = { readonly service_id: string; readonly job_id: string }

async function* sentJobs({ line, signal, once }: Orders): AsyncGenerator<Sent> {
  while (!signal.aborted) {
    const { next_cursor } = await line.insist((session) => readPage(session, { cursor: 'latest' }))
    yield* await waiting(line)
    if (once) return
    yield* comingJobs({ line, signal }, next_cursor)
  }
}

/** Yields new jobs. Ends when the events after the cursor are no longer kept; the caller then starts anew. */
async function* comingJobs({ line, signal }: Pick<Orders, 'line' | 'signal'>, from: string): AsyncGenerator<Sent> {
  for (let cursor = from; !signal.aborted; ) {
    const reading = { cursor, types: 'job.dispatched', wait: true }
    const page = await line.nextPage(reading).catch(isTooOld)
    // The instance may have rejected a cursor that it just gave, so wait before the next attempt.
    if (page === undefined) return line.pause()
    // Only events for the provider contain `brief`.
    for (const { data, subject } of page.events) {
      if ('brief' in data) yield { service_id: String(data.service_id), job_id: subject.id }
    }
    cursor = page.next_cursor
  }
}

function isTooOld(error: unknown): undefined {
  if (!(error instanceof AppError) || error.details?.[0]?.path !== 'cursor') throw error
}

async function waiting(line: ProviderLine): Promise<readonly FetchedJob[]> {
  const found: FetchedJob[] = []
  for (const status of ['in_progress', 'dispatched'] as const) {
    for (let offset = 0; ; offset += PAGE_ROWS) {
      const { jobs, total } = await line.insist(async (session) =>
        session.call('listJobs', {
          query: { role: 'provider', status, limit: String(PAGE_ROWS), offset: String(offset) },
        }),
      )
      found.push(...jobs)
      if (offset + jobs.length >= total || jobs.length === 0 || offset >= WAITING_JOBS_MAX) break
    }
  }
  return found.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
}
