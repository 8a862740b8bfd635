import type { AttentionKind } from '../../../src/model/words.ts'
import type { ToldItem } from './alarm-rows.ts'
import { MAX_OF_A_KIND } from './find.ts'

/** All open problems: the listed ones, and the number of each kind, which counts those that are not listed, too. */
export type Problems = {
  readonly items: readonly ToldItem[]
  readonly counts: Readonly<Partial<Record<AttentionKind, number>>>
}

type Changes = { readonly raised: readonly ToldItem[]; readonly over: readonly ToldItem[] }

const stopping: ReadonlySet<AttentionKind> = new Set(['platform', 'escrow', 'journal', 'disk'])

/** Whether a problem stops sales. Quiet hours do not hold it back. */
const stopsSales = ({ kind, grave }: ToldItem) => stopping.has(kind) || (kind === 'chain' && grave)

/** What a target does not know yet: problems that are new, and told ones that are over. */
export function changesFor(told: readonly ToldItem[], { items, counts }: Problems, isQuiet: boolean): Changes {
  const [open, known] = [items, told].map((list) => new Set(list.map(({ id }) => id)))
  const listed = Map.groupBy(items, ({ kind }) => kind)
  const knownOf = Map.groupBy(told, ({ kind }) => kind)
  // Of a kind with more problems than are listed, an unlisted one may still be open.
  const isCut = (kind: AttentionKind) => (counts[kind] ?? 0) > (listed.get(kind)?.length ?? 0)
  const isFull = (kind: AttentionKind) => isCut(kind) && (knownOf.get(kind)?.length ?? 0) >= MAX_OF_A_KIND
  const isHeard = (item: ToldItem) => !isQuiet || stopsSales(item)
  return {
    raised: items.filter((item) => !known?.has(item.id) && !isFull(item.kind) && isHeard(item)),
    over: told.filter((item) => !open?.has(item.id) && !isCut(item.kind) && isHeard(item)),
  }
}

/** What a target knows after a message. */
export function toldAfter(told: readonly ToldItem[], { raised, over }: Changes): ToldItem[] {
  const ended = new Set(over.map(({ id }) => id))
  return [...told.filter(({ id }) => !ended.has(id)), ...raised]
}
