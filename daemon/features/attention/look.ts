import { formatAmount, usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { AttentionKind } from '../../../src/model/words.ts'
import { type CronView, scheduler } from '../../crons/scheduler.ts'
import { engineBoard } from '../../engines/engines.ts'
import { missable } from '../../engines/seen.ts'
import type { Context } from '../../kernel/context.ts'
import { type WrongToken, wrongTokens } from '../../kernel/wrong-tokens.ts'
import type { ChainFaultCode } from '../../ports/chain/chain.ts'
import type { SeenEngine } from '../../ports/engine.ts'
import { driftOf } from '../audit/drift.ts'
import { cutSentence, storage } from '../backup/storage.ts'
import { type DealRow, waitingDeals } from '../escrow/rows.ts'
import { firstPartyServices } from '../first-party/index.ts'
import { jobs } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { gasValue, recentGas } from '../payouts/gas-costs.ts'
import { GAS_ACTS_TOLD, gasActsToday } from '../payouts/withdrawals.ts'
import { compliance, sdnHealth } from '../sanctions/sanctions.ts'
import { type FoundItems, foundItems, type ItemWords, MAX_OF_A_KIND } from './find.ts'

type SubjectWords = Omit<ItemWords, 'subject'>

/** The item of a kind that has at most one. */
function one(kind: AttentionKind, words: SubjectWords | undefined): Promise<FoundItems> {
  return foundItems(kind, { rows: words ? [words] : [] }, (said) => ({ subject: { kind, id: said.id }, ...said }))
}

/** Disk space and journal health. */
export async function storageOf(ctx: Context): Promise<readonly FoundItems[]> {
  const { cut, isFull } = storage.of(ctx)
  const grave = true
  const full = {
    id: 'disk',
    grave,
    sentence: 'The disk is full: all writes are rejected.',
    fix: 'souk doctor --only disk',
  }
  return Promise.all([
    one('journal', cut && { id: 'journal', grave, sentence: cutSentence(cut), fix: 'souk doctor' }),
    one('disk', (await isFull()) ? full : undefined),
  ])
}

/** Chain problems, and differences between the books and the chain. */
export async function chainOf(ctx: Context): Promise<FoundItems> {
  const status = ctx.chain.status?.()
  const faults = status?.faults ?? []
  const drift = status === undefined || status.health === 'down' ? null : await driftOf(ctx)
  const freeActs = await gasActsToday(ctx)
  const itemOf = (id: string, said: Omit<SubjectWords, 'id'>) => ({
    id: `chain ${id}`,
    subject: { kind: 'chain', id },
    ...said,
  })
  const items = [
    ...faults.map(({ code, sentence, transaction }) =>
      itemOf(code, { grave: graveFaults.has(code), sentence, fix: fixOf(code, transaction) }),
    ),
    ...(drift === null || drift.ok
      ? []
      : [
          itemOf('drift', {
            grave: true,
            sentence: `Ledger and chain differ: ${drift.detail}.`,
            fix: 'souk money audit',
          }),
        ]),
    ...(await lossOf(ctx)).map((sentence) => itemOf('gas', { sentence, fix: 'souk chain costs' })),
    ...(freeActs < GAS_ACTS_TOLD
      ? []
      : [itemOf('free acts', { sentence: freeActsSentence(freeActs), fix: 'souk chain queue --all' })]),
    ...wrongTokens
      .of(ctx)
      .recent(ctx.clock.wall())
      .map((one) => itemOf(`token of ${one.seller}`, wrongTokenWords(ctx, one))),
    ...(await waitingDeals(ctx)).map((deal) =>
      itemOf(deal.id, {
        grave: deal.taken === undefined,
        amount: usdc(deal.net + deal.fee),
        since: deal.created_at,
        sentence: sentenceOf(deal),
        fix: `souk jobs view ${deal.id}`,
      }),
    ),
  ]
  return foundItems('chain', { rows: items }, (words) => words)
}

/** Says that the gas of a day cost more than the fees of that day. */
async function lossOf(ctx: Context): Promise<string[]> {
  if (ctx.config.ethPrice === undefined) return []
  const report = await recentGas(ctx, DAY_MS)
  const [gas, { fees }] = [gasValue(ctx, report.wei), report]
  if (gas === null || gas <= fees) return []
  return [`Gas of the last 24 hours cost $${formatAmount(gas)}, and fees earned $${formatAmount(fees)}.`]
}

function freeActsSentence(count: number): string {
  return `Wallets made ${count} withdrawals and cancellations today (UTC), which cost gas and earn no fee.`
}

function wrongTokenWords({ chain }: Context, { seller, network, asset, count }: WrongToken) {
  const times = count === 1 ? 'once' : `${count} times`
  const own = `${chain.asset.address} on ${chain.network}`
  const sentence = `A server (${seller}) requested settlement of ${asset} on ${network} ${times}; this chain settles ${own}.`
  return { sentence, fix: 'souk facilitator show' }
}

function sentenceOf({ id, taken, last_error: error }: DealRow): string {
  if (taken) return `The funds of ${id} have left the escrow contract: ${error}.`
  return `The escrow contract does not release the funds of ${id}: ${error ?? 'no reason given'}.`
}

const graveFaults: ReadonlySet<ChainFaultCode> = new Set([
  'silent',
  'gas_empty',
  'gas_signer',
  'reversed',
  'nonce_taken',
])

function fixOf(code: ChainFaultCode, transaction: string | undefined): string {
  if (transaction !== undefined) return `souk chain tx ${transaction}`
  return code === 'stuck' || code === 'fee_cap' ? 'souk chain queue' : 'souk chain status'
}

/** Crons that failed, or have not succeeded for too long. */
export function cronsOf(ctx: Context): Promise<FoundItems> {
  const views = scheduler.of(ctx).views().filter(isTroubled)
  return foundItems('cron', { rows: views }, ({ cron, health, row }) => ({
    id: `cron ${cron.name}`,
    subject: { kind: 'cron', id: cron.name },
    since: health.last_success,
    sentence:
      row.runs[0]?.result === 'failed'
        ? `The last run of this scheduled job failed: ${row.runs[0].reason}.`
        : 'The scheduled job is overdue.',
    fix: `souk crons run ${cron.name}`,
  }))
}

function isTroubled({ health, row }: CronView): boolean {
  return health.stale || row.runs[0]?.result === 'failed'
}

/**
 * Engine problems: one item for each failing program, and one for all missing engines. A missing engine is named only
 * if it was available recently or an open job needs it. The doctor reports all missing engines.
 */
export async function enginesOf(ctx: Context): Promise<FoundItems> {
  const seen = engineBoard.of(ctx).standings()
  const failing = seen.filter(({ status, lookedAt }) => lookedAt !== undefined && status === 'failing')
  const missing = await missedOf(ctx, seen)
  const lost = `First-party functions are unavailable, because these engines are missing: ${missing.join(', ')}.`
  const sentences = [
    ...failing.map(({ name, detail }) => [name, `First-party functions wait for ${name}: ${detail}`] as const),
    ...(missing.length === 0 ? [] : [['missing', lost] as const]),
  ]
  return foundItems('engine', { rows: sentences }, ([id, sentence]) => ({
    id: `engine ${id}`,
    subject: { kind: 'engine', id },
    sentence,
    fix: 'souk doctor --only engines',
  }))
}

/** Names of missing engines to report. An engine that was never checked is not reported. */
async function missedOf(ctx: Context, seen: readonly SeenEngine[]): Promise<readonly string[]> {
  const missing = seen.filter(({ status, lookedAt }) => lookedAt !== undefined && status === 'missing')
  const isMissed = await missable(ctx)
  const awaited = missing.every(isMissed) ? new Set() : await awaitedBy(ctx)
  return missing.filter((engine) => isMissed(engine) || awaited.has(engine.name)).map(({ name }) => name)
}

/** Names of engines that open jobs need. */
async function awaitedBy(ctx: Context): Promise<ReadonlySet<string>> {
  return ctx.store.read(async (t) => {
    const awaited = new Set<string>()
    for (const { slug, needs } of firstPartyServices.values()) {
      if (needs.every((name) => awaited.has(name))) continue
      const { rows } = await t.table(services).page('slug', [slug], { limit: MAX_OF_A_KIND })
      const open = await Promise.all(rows.map(({ id }) => t.table(jobs).count('service_open', [id])))
      if (open.some((count) => count > 0)) for (const name of needs) awaited.add(name)
    }
    return awaited
  })
}

/** Switches that the operator paused, and a stale sanctions list. */
export function switchesOf(ctx: Context, now: number): Promise<readonly FoundItems[]> {
  const { paused, pausedAt, pausedReason, escrowPaused, escrowPausedAt } = ctx.switches.now()
  const { list, source } = compliance.of(ctx)
  const sdn = sdnHealth(list, { source: source.shown, now })
  const stale = { id: 'sdn', sentence: 'The sanctions list is stale.', fix: 'souk crons run ofac-sdn-refresh' }
  const stopped = {
    id: 'paused',
    grave: true,
    since: pausedAt,
    sentence: `Paid activity is paused${pausedReason === null ? '' : `: ${pausedReason}`}.`,
    fix: 'souk admin platform unpause',
  }
  const shut = {
    id: 'escrow_paused',
    grave: true,
    since: escrowPausedAt,
    sentence: 'Escrow is paused: only refunds are possible.',
    fix: 'souk admin escrow unpause',
  }
  return Promise.all([
    one('sanctions_list', sdn.stale ? { ...stale, since: sdn.last_checked } : undefined),
    one('platform', paused ? stopped : undefined),
    one('escrow', escrowPaused ? shut : undefined),
  ])
}
