import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import type { Callable } from '../client/call.ts'
import { deadlineSpan, shortSpan } from '../text/text.ts'
import { dim, type NounColumn, type Toned, warn } from './columns.ts'

/* What there is to know of one kind of thing, once: its lists, columns, words and facts, for every front. */

/** What every list says of itself. */
type Counted = { readonly total: number; readonly offset: number; readonly limit: number }
export type ListName = { [K in Callable]: WireAnswer<Api[K]> extends Counted ? K : never }[Callable]

/** Lists whose rows are such. */
export type ListOf<R> = {
  [K in ListName]: Extract<WireAnswer<Api[K]>[keyof WireAnswer<Api[K]>], readonly R[]> extends never ? never : K
}[ListName]

/** A page of a list, whatever its rows are called in it. */
export type NounPage = Counted & {
  readonly searched?: { readonly rows: number; readonly of: number } | undefined
}

export type NounFact = readonly [label: string, words: string]

export type Noun<R> = {
  /** As sentences call one of it, and several. */
  readonly name: string
  readonly plural: string
  /** The list of everybody's, for the operator. */
  readonly list: ListOf<R>
  /** Its order unless sorted. */
  readonly order?: string
  /** An empty list. */
  readonly none: string
  idOf(row: R): string
  nameOf(row: R): string
  /** How it stands, sign and word. @param now business time */
  stateOf?(row: R, now?: number): Toned
  readonly columns: readonly NounColumn<R>[]
  /** All there is to know of one; labels without words are left out. */
  facts?(row: R): readonly NounFact[]
  /** The command that somebody would run next. */
  nextOf?(row: R): string | undefined
}

/** Rows of a list, by the name that they have in its pages. */
type RowIn<K extends ListName, M extends keyof WireAnswer<Api[K]>> = WireAnswer<Api[K]>[M] extends readonly (infer R)[]
  ? R
  : never

/** A list that is no noun of its own: what somebody has, looked at nowhere else. */
export function listing<const K extends ListName, const M extends keyof WireAnswer<Api[K]>>({
  rows: _,
  ...more
}: {
  readonly list: K
  readonly rows: M
  readonly none: string
  readonly columns: readonly NounColumn<RowIn<K, M>>[]
}) {
  return more
}

/** The one list in a page. */
export function rowsOf<R>(page: NounPage): readonly R[] {
  // The page was asked for by the noun of these rows, whose list the types hold.
  return Object.values<unknown>(page).find(Array.isArray) as readonly R[]
}

type Next = readonly [words: string, at: string | null]

/** What happens by itself and when: `is charged in 12d`; what should have happened is told in the colour of trouble, and so is what has no time. */
export function nextColumn<R>(nextOf: (row: R) => Next | undefined, min?: number): NounColumn<R> {
  const value: NounColumn<R>['value'] = (row, now) => {
    const [words, at = null] = nextOf(row) ?? []
    if (words !== undefined && at === null) return warn(words)
    if (words === undefined || at === null || now === undefined) return dim('—')
    const left = Date.parse(at) - now
    return left < 0 ? warn(`${words}, due ${shortSpan(-left)} ago`) : `${words} in ${deadlineSpan(left)}`
  }
  return { title: 'NEXT', kind: 'word', value, ...(min === undefined ? { drop: 1 } : { min }), on: ['screen'] }
}
