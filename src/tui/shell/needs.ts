import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import type { AttentionKind, ScreenId } from '../../model/words.ts'
import { ask } from './queries.ts'
import { text, time } from './read.ts'

type Answered = WireAnswer<Api['getAttention']>

/** Something that waits for whoever runs the marketplace. */
export type Need = {
  readonly id: string
  readonly kind: AttentionKind
  readonly grave: boolean
  readonly subject: string
  readonly who: string
  /** Like `$0.525`; empty where no money waits. */
  readonly amount: string
  /** Business time. */
  readonly since: number | undefined
  readonly due: number | undefined
  readonly sentence: string
  /** The command that mends it, or shows more. */
  readonly fix: string
}

export type Needs = {
  readonly items: readonly Need[]
  readonly total: number
  readonly counts: Answered['counts']
  /** Of those that were told, how many are not to be seen now. */
  readonly putOff: number
  /** All there are, by the screen that shows them. */
  readonly byScreen: Readonly<Partial<Record<ScreenId, { readonly count: number; readonly grave: boolean }>>>
}

/** Where more is to be seen of each kind. */
export const screenOfKind: Readonly<Record<AttentionKind, ScreenId>> = {
  journal: 'logs',
  disk: 'logs',
  chain: 'money',
  reversed: 'money',
  payout: 'money',
  dispute: 'jobs',
  overdue: 'jobs',
  unserved_period: 'money',
  delivery: 'services',
  endpoint: 'services',
  cron: 'crons',
  engine: 'services',
  sanctions_list: 'compliance',
  platform: 'endpoints',
  escrow: 'money',
}

/** What stands in the inbox for each kind. */
export const kindWords: Readonly<Record<AttentionKind, string>> = {
  journal: 'journal',
  disk: 'disk',
  chain: 'chain',
  reversed: 'reversed',
  payout: 'payout',
  dispute: 'dispute',
  overdue: 'overdue',
  unserved_period: 'unserved',
  delivery: 'delivery',
  endpoint: 'endpoint',
  cron: 'cron',
  engine: 'engine',
  sanctions_list: 'list',
  platform: 'platform',
  escrow: 'escrow',
}

export const fetchNeeds = (link: Link) => (signal: AbortSignal) =>
  ask(link, { name: 'getAttention', asked: { signal } }, readNeeds)

function readNeeds({ items, counts, total }: Answered): Needs {
  return { items: items.map(readNeed), total, counts, byScreen: byScreenOf(items, counts), putOff: 0 }
}

/** What waits on each screen. */
export function byScreenOf(items: readonly Pick<Need, 'grave' | 'kind'>[], counts: Needs['counts']): Needs['byScreen'] {
  const graves = new Set(items.filter(({ grave }) => grave).map(({ kind }) => screenOfKind[kind]))
  const byScreen: Partial<Record<ScreenId, { count: number; grave: boolean }>> = {}
  for (const item of Object.entries(counts)) addCount(item, { byScreen, graves })
  return byScreen
}

type Sums = {
  readonly byScreen: Partial<Record<ScreenId, { count: number; grave: boolean }>>
  readonly graves: ReadonlySet<ScreenId>
}

function addCount([kind, count]: readonly [string, number], { byScreen, graves }: Sums): void {
  const screen = Object.entries(screenOfKind).find(([name]) => name === kind)?.[1]
  if (screen === undefined || count === 0) return
  byScreen[screen] = { count: (byScreen[screen]?.count ?? 0) + count, grave: graves.has(screen) }
}

function readNeed({
  id,
  kind,
  grave,
  subject,
  who,
  amount,
  since,
  due,
  sentence,
  fix,
}: Answered['items'][number]): Need {
  return {
    id: text(id),
    kind,
    grave,
    subject: text(subject.id),
    who: text(who),
    amount: amount === null ? '' : `$${amount}`,
    since: time(since),
    due: time(due),
    sentence: text(sentence),
    fix: text(fix),
  }
}
