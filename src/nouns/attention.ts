import type { AttentionKind, ScreenId } from '../model/words.ts'
import { dollars, microOf } from '../text/columns.ts'

/* Words of what needs attention: its kind, its screen, the act that mends it, and several of a kind as one row. */

export type MendAct = 'runCron' | 'decide' | 'testHook' | 'pause' | 'giveBack' | 'add'

type Many = {
  /** Plural of the things. */
  readonly things: string
  /** Text about several rows. */
  readonly are: string
  /** The command that lists them. */
  readonly list: string
}

type KindWords = {
  readonly word: string
  readonly screen: ScreenId
  /** The act that mends it; without one, its row leads to what it is about. */
  readonly mend?: { readonly act: MendAct; readonly verb: string }
  /** Of those that are one row together. */
  readonly many?: Many
}

export const attentionWords: Readonly<Record<AttentionKind, KindWords>> = {
  platform: { word: 'platform', screen: 'endpoints', mend: { act: 'pause', verb: 'unpause' } },
  escrow: { word: 'escrow', screen: 'money', mend: { act: 'runCron', verb: 'let go on' } },
  journal: { word: 'journal', screen: 'logs' },
  disk: { word: 'disk', screen: 'logs' },
  chain: { word: 'chain', screen: 'money' },
  reversed: { word: 'reversed', screen: 'money' },
  payout: { word: 'payout', screen: 'money', mend: { act: 'runCron', verb: 'try now' } },
  dispute: { word: 'dispute', screen: 'jobs', mend: { act: 'decide', verb: 'decide' } },
  overdue: {
    word: 'overdue',
    screen: 'jobs',
    mend: { act: 'giveBack', verb: 'give back' },
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
    many: { things: 'messages', are: 'that no endpoint took', list: 'souk admin webhooks list --status dead' },
  },
  endpoint: { word: 'endpoint', screen: 'services', mend: { act: 'testHook', verb: 'send again' } },
  cron: { word: 'cron', screen: 'crons', mend: { act: 'runCron', verb: 'run now' } },
  engine: { word: 'engine', screen: 'services' },
  sanctions_list: { word: 'list', screen: 'compliance', mend: { act: 'runCron', verb: 'fetch now' } },
}

type Item = {
  readonly id: string
  readonly kind: AttentionKind
  readonly grave: boolean
  readonly who: string | null
  /** Without a sign. */
  readonly amount: string | null
  readonly since: string | null
  readonly due: string | null
  readonly subject: { readonly kind: string; readonly id: string }
  readonly sentence: string
  readonly fix: string
}

/** A row of what needs attention: one thing, or several of a kind with their sum and the oldest age. */
export type AttentionRow<T extends Item> = {
  readonly item: Omit<T, keyof Item> & Item
  readonly of: readonly T[]
  readonly count: number
}

/** What mends it; undefined where its command only shows it. */
export function mendOf({ kind, fix }: Pick<Item, 'kind' | 'fix'>): KindWords['mend'] {
  return /^souk \S+ view /.test(fix) ? undefined : attentionWords[kind].mend
}

/** Names shown of several. */
const NAMES = 3

/** Items with those of a kind in one row, where the first of them stood. @param counts all there are, by kind */
export function attentionRows<T extends Item>(
  items: readonly T[],
  counts: Readonly<Partial<Record<AttentionKind, number>>>,
): readonly AttentionRow<T>[] {
  return items.flatMap((item) => {
    const { many } = attentionWords[item.kind]
    const of = many === undefined ? [item] : items.filter(({ kind }) => kind === item.kind)
    if (of.length === 1) return [{ item, of, count: 1 }]
    return of[0] === item && many ? [together(of, { many, count: counts[item.kind] ?? of.length })] : []
  })
}

function together<T extends Item>(
  of: readonly T[],
  { many, count }: { readonly many: Many; readonly count: number },
): AttentionRow<T> {
  const [first] = of as readonly [T, ...T[]]
  const names = [...new Set(of.map(({ who }) => who ?? ''))].filter(Boolean)
  const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : ''
  const item = {
    ...first,
    id: first.kind,
    grave: of.some(({ grave }) => grave),
    who: `${count} ${many.things}`,
    amount: of.length === count ? sumOf(of) : null,
    since: of.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
    due: null,
    sentence: `${many.are}: ${names.slice(0, NAMES).join(', ')}${more}.`,
    fix: many.list,
  }
  return { item, of, count }
}

/** Null unless each of them waits with money. */
function sumOf(of: readonly Item[]): string | null {
  const amounts = of.map(({ amount }) => (amount === null ? undefined : microOf(amount)))
  const sum = amounts.reduce((all, one) => (all === undefined || one === undefined ? undefined : all + one), 0n)
  return sum === undefined ? null : dollars(sum).slice(1)
}
