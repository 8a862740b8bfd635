import type { WireAnswer } from '../../api/index.ts'
import { attentionKinds } from '../../model/words.ts'
import { type AttentionRow, attentionRows, attentionWords } from '../../nouns/attention.ts'
import type { ScreenId } from '../../nouns/screens.ts'
import { fetching } from './queries.ts'
import { text, time } from './read.ts'

type Answered = WireAnswer<'getAttention'>

export type Needs = ReturnType<typeof readNeeds>

export const fetchNeeds = fetching('getAttention', {}, readNeeds)

function readNeeds({ items, counts, total }: Answered) {
  return {
    items: attentionRows({ items, counts }).map(readNeed),
    total,
    counts,
    byScreen: byScreenOf(items, counts),
    /** How many problems are snoozed. */
    putOff: 0,
  }
}

export function byScreenOf(items: readonly Pick<Need, 'grave' | 'kind'>[], counts: Answered['counts']) {
  const byScreen: Partial<Record<ScreenId, { count: number; grave: boolean }>> = {}
  for (const kind of attentionKinds) {
    const { screen } = attentionWords[kind]
    const count = (byScreen[screen]?.count ?? 0) + (counts[kind] ?? 0)
    const grave = items.some((one) => one.grave && attentionWords[one.kind].screen === screen)
    if (count > 0) byScreen[screen] = { count, grave }
  }
  return byScreen
}

/** A row of the inbox: one open problem, or several of a kind. Times are business time. */
export type Need = OneNeed & { readonly of: readonly OneNeed[]; readonly count: number }
type OneNeed = ReturnType<typeof readOne>

function readNeed({ item, of, count }: AttentionRow): Need {
  return { ...readOne(item), of: of.map(readOne), count }
}

function readOne({ kind, grave, ...need }: Answered['items'][number]) {
  return {
    id: text(need.id),
    kind,
    grave,
    subject: text(need.subject.id),
    who: text(need.who),
    /** Like `$0.525`; empty without money. */
    amount: need.amount === null ? '' : `$${need.amount}`,
    since: time(need.since),
    due: time(need.due),
    sentence: text(need.sentence),
    /** The command that fixes the problem, or else shows it. */
    fix: text(need.fix),
  }
}
