import type { WireAnswer } from '../api/index.ts'
import type { AttentionKind } from '../model/words.ts'
import { dollars, microOf } from '../text/columns.ts'
import type { ScreenId } from './screens.ts'

export type MendAct = 'runCron' | 'decide' | 'testHook' | 'pause' | 'giveBack' | 'add'

type KindWords = {
  readonly word: string
  readonly screen: ScreenId
  /** Action that fixes the item. If there is none, the row opens the job, listing or other record concerned. */
  readonly mend?: { readonly act: MendAct; readonly verb: string }
  /** Words for several items in one row: plural noun, predicate, and the command that lists them. */
  readonly many?: { readonly things: string; readonly are: string; readonly list: string }
}

export const attentionWords: Readonly<Record<AttentionKind, KindWords>> = {
  platform: { word: 'platform', screen: 'endpoints', mend: { act: 'pause', verb: 'unpause' } },
  escrow: { word: 'escrow', screen: 'money', mend: { act: 'runCron', verb: 'resume' } },
  journal: { word: 'journal', screen: 'logs' },
  disk: { word: 'disk', screen: 'logs' },
  chain: { word: 'chain', screen: 'money' },
  reversed: { word: 'reversed', screen: 'money' },
  hot_balance: { word: 'hot balance', screen: 'money' },
  payout: { word: 'payout', screen: 'money', mend: { act: 'runCron', verb: 'try now' } },
  dispute: { word: 'dispute', screen: 'jobs', mend: { act: 'decide', verb: 'decide' } },
  overdue: {
    word: 'overdue',
    screen: 'jobs',
    mend: { act: 'giveBack', verb: 'refund' },
    many: { things: 'jobs', are: 'past their promised time', list: 'souk admin jobs list --filter "late:yes"' },
  },
  stuck: {
    word: 'stuck',
    screen: 'jobs',
    mend: { act: 'runCron', verb: 'run now' },
    many: { things: 'jobs', are: 'whose next step was not taken in time', list: 'souk crons run escrow-monitor' },
  },
  unserved_period: { word: 'unserved', screen: 'money', mend: { act: 'add', verb: 'settle' } },
  past_due: {
    word: 'past due',
    screen: 'services',
    many: {
      things: 'subscriptions',
      are: 'whose renewal the balance does not cover',
      list: 'souk admin subs list --filter "status:past_due"',
    },
  },
  inquiry: {
    word: 'inquiry',
    screen: 'threads',
    many: { things: 'questions', are: 'without an answer', list: 'souk admin threads list --filter "status:inquiry"' },
  },
  delivery: {
    word: 'delivery',
    screen: 'logs',
    mend: { act: 'testHook', verb: 'send it' },
    many: { things: 'messages', are: 'that no endpoint accepted', list: 'souk admin webhooks list --status dead' },
  },
  endpoint: { word: 'endpoint', screen: 'services', mend: { act: 'testHook', verb: 'resend' } },
  cron: { word: 'cron', screen: 'crons', mend: { act: 'runCron', verb: 'run now' } },
  engine: { word: 'engine', screen: 'services' },
  sanctions_list: { word: 'list', screen: 'compliance', mend: { act: 'runCron', verb: 'fetch now' } },
  alarm: { word: 'alarm', screen: 'logs' },
  certificate: { word: 'certificate', screen: 'endpoints' },
  backup: { word: 'backup', screen: 'logs' },
}

/** What each kind of problem is. */
export const attentionMeans: Readonly<Record<AttentionKind, string>> = {
  platform: 'Paid activity is paused.',
  escrow: 'Escrow is paused: only refunds are possible.',
  journal: 'The end of the journal was cut, so its last writes are lost.',
  disk: 'The disk is full, so writes are rejected.',
  chain: 'The chain has a fault, the books differ from it, or a server asks for another token.',
  reversed: 'The chain reverted a settled payment.',
  hot_balance: 'The pay-to wallet holds more than its ceiling.',
  payout: 'A payout lacks a key or was on hold, or money moved after the restored backup.',
  dispute: 'A dispute waits for your decision.',
  overdue: 'A job is past its promised time.',
  stuck: 'The next step of a job was not taken in time.',
  unserved_period: 'A subscriber paid while the seller was suspended.',
  past_due: 'A balance does not cover the renewal of a subscription.',
  inquiry: 'A question of a buyer had no answer for a day.',
  delivery: 'No endpoint accepted a webhook message.',
  endpoint: 'The endpoint of a listing fails.',
  cron: 'A scheduled job failed or is overdue.',
  engine: 'A program that services need fails or is missing.',
  sanctions_list: 'The sanctions list is stale.',
  alarm: 'A target of alarms does not accept them.',
  certificate: 'The certificate of this daemon ends soon.',
  backup: 'The last backup is too old.',
}

type Item = WireAnswer<'getAttention'>['items'][number]

/** A row of attention items: one item, or several of one kind with their total amount and earliest time. */
export type AttentionRow = { readonly item: Item; readonly of: readonly Item[]; readonly count: number }

type Fixable = Pick<Item, 'kind' | 'fix'>

/** Action that fixes an item, or one of the items of a row. Undefined if their commands only show a record. */
export function mendOf({ kind, fix, of = [{ fix }] }: Fixable & { readonly of?: readonly Pick<Item, 'fix'>[] }) {
  return of.every((one) => /^souk (?:\S+ view|why) /.test(one.fix)) ? undefined : attentionWords[kind].mend
}

const NAMES = 3
/** Groups attention items into rows. If a kind has words for several items (`many`), its items share one row. */
export function attentionRows({
  items,
  counts,
}: Pick<WireAnswer<'getAttention'>, 'items' | 'counts'>): readonly AttentionRow[] {
  return items.flatMap((item) => {
    const of = attentionWords[item.kind].many === undefined ? [item] : items.filter(({ kind }) => kind === item.kind)
    if (of.length === 1) return [{ item, of, count: 1 }]
    const count = counts[item.kind] ?? of.length
    return of[0] === item ? [{ item: together(item, of, count), of, count }] : []
  })
}

function together(first: Item, of: readonly Item[], count: number): Item {
  const { things = '', are = '', list = '' } = attentionWords[first.kind].many ?? {}
  const names = [...new Set(of.map(({ who }) => who ?? ''))].filter(Boolean)
  const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : ''
  return {
    ...first,
    id: first.kind,
    grave: of.some(({ grave }) => grave),
    who: `${count} ${things}`,
    amount: of.length === count ? sumOf(of) : null,
    since: of.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
    due: null,
    sentence: `${are}: ${names.slice(0, NAMES).join(', ')}${more}.`,
    fix: list,
  }
}

/** Sum of the amounts; null if an item has none. */
function sumOf(of: readonly Item[]): string | null {
  const amounts = of.map(({ amount }) => (amount === null ? undefined : microOf(amount)))
  const sum = amounts.reduce((all, one) => (all === undefined || one === undefined ? undefined : all + one), 0n)
  return sum === undefined ? null : dollars(sum).slice(1)
}
