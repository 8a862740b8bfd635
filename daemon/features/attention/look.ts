import type { AttentionKind } from '../../../src/model/attention.ts'
import { type CronView, scheduler } from '../../crons/scheduler.ts'
import type { Context } from '../../kernel/context.ts'
import type { SeenEngine } from '../../ports/engine.ts'
import { cutSentence, storage } from '../backup/storage.ts'
import { engineBoard } from '../engines/engines.ts'
import { compliance, sdnHealth } from '../sanctions/sanctions.ts'
import type { FoundItems, Item } from './find.ts'

type Said = Pick<Item, 'id' | 'sentence' | 'fix'> & Partial<Item>

function one(kind: AttentionKind, said: Said | undefined): FoundItems {
  if (!said) return { kind, items: [], count: 0 }
  const nothing = { grave: false, who: null, amount: null, since: null, due: null }
  return { kind, items: [{ ...nothing, subject: { kind, id: said.id }, ...said }], count: 1 }
}

/** What is no row of the books: the disk and the journal on it. */
export async function storageOf(ctx: Context): Promise<readonly FoundItems[]> {
  const { cut, isFull } = storage.of(ctx)
  const grave = true
  const full = {
    id: 'disk',
    grave,
    sentence: 'The disk is full: every write is refused.',
    fix: 'souk doctor --only disk',
  }
  return [
    one('journal', cut && { id: 'journal', grave, sentence: cutSentence(cut), fix: 'souk doctor' }),
    one('disk', (await isFull()) ? full : undefined),
  ]
}

/** Crons that failed last, or have not succeeded for too long. */
export function cronsOf(ctx: Context): FoundItems {
  const views = scheduler.of(ctx).views().filter(isTroubled)
  const items = views.map(
    ({ cron, health, row }): Item => ({
      id: `cron ${cron.name}`,
      grave: false,
      subject: { kind: 'cron', id: cron.name },
      who: null,
      amount: null,
      since: health.last_success,
      due: null,
      sentence: row.runs[0]?.result === 'failed' ? `Its last run failed: ${row.runs[0].reason}.` : 'It is stale.',
      fix: `souk crons run ${cron.name}`,
    }),
  )
  return { kind: 'cron', items, count: items.length }
}

function isTroubled({ health, row }: CronView): boolean {
  return health.stale || row.runs[0]?.result === 'failed'
}

/**
 * What functions of the house wait for: programs that this machine has not, together, since no marketplace needs all of
 * them; each that is there and fails. What nobody configured nobody waits for.
 */
export function enginesOf(ctx: Context): FoundItems {
  const troubled = engineBoard.of(ctx).standings().filter(isTroubling)
  const failing = troubled.filter(({ status }) => status === 'failing')
  const missing = troubled.filter(({ status }) => status === 'missing').map(({ name }) => name)
  const itemOf = (id: string, sentence: string): Item => ({
    id: `engine ${id}`,
    grave: false,
    subject: { kind: 'engine', id },
    who: null,
    amount: null,
    since: null,
    due: null,
    sentence,
    fix: 'souk doctor --only engines',
  })
  const items = [
    ...failing.map(({ name, detail }) => itemOf(name, `Functions of the house wait for ${name}: ${detail}`)),
    ...(missing.length === 0
      ? []
      : [
          itemOf(
            'missing',
            `Functions of the house are not offered, since what they work with is missing: ${missing.join(', ')}.`,
          ),
        ]),
  ]
  return { kind: 'engine', items, count: items.length }
}

/** Before the first look nothing is known to be missing. */
function isTroubling({ status, lookedAt }: SeenEngine): boolean {
  return lookedAt !== undefined && (status === 'missing' || status === 'failing')
}

/** What the operator has stopped, and the list that nobody has looked at. */
export function switchesOf(ctx: Context, now: number): readonly FoundItems[] {
  const { paused, pausedAt, escrowPaused, escrowPausedAt } = ctx.switches.now()
  const { list, source } = compliance.of(ctx)
  const sdn = sdnHealth(list, { source: source.shown, now })
  const stale = { id: 'sdn', sentence: 'The sanctions list is stale.', fix: 'souk crons run ofac-sdn-refresh' }
  const stopped = {
    id: 'paused',
    since: pausedAt,
    sentence: 'Paid activity is paused.',
    fix: 'souk admin platform unpause',
  }
  const shut = {
    id: 'escrow_paused',
    since: escrowPausedAt,
    sentence: 'Nothing enters or leaves escrow but refunds.',
    fix: 'souk admin escrow unpause',
  }
  return [
    one('sanctions_list', sdn.stale ? { ...stale, since: sdn.last_checked } : undefined),
    one('platform', paused ? stopped : undefined),
    one('escrow', escrowPaused ? shut : undefined),
  ]
}
