import type { WireAnswer } from '../api/index.ts'
import type { Callable } from '../client/asked.ts'
import { keysOf, tableOf } from '../core/record.ts'
import { deadlineSpan, shortSpan } from '../text/text.ts'

/** Members that all lists have. */
type Counted = { readonly total: number; readonly offset: number; readonly limit: number }
export type ListName = { [K in Callable]: WireAnswer<K> extends Counted ? K : never }[Callable]

export type ListOf<R> = {
  [K in ListName]: Extract<WireAnswer<K>[keyof WireAnswer<K>], readonly R[]> extends never ? never : K
}[ListName]

/** A page of any list. */
export type NounPage = Counted & { readonly searched?: { readonly rows: number; readonly of: number } | undefined }

export type NounFact = readonly [label: string, words: string]

export type Noun<R> = {
  readonly name: string
  readonly plural: string
  /** Operator's list. */
  readonly list: ListOf<R>
  /** Default order. */
  readonly order?: string
  /** Text that an empty list shows. */
  readonly none: string
  /** How rows come to be, and a command that makes one. */
  readonly source: readonly [words: string, command: string]
  idOf(row: R): string
  nameOf(row: R): string
  /** State as symbol and word, such as `● active`. @param now business time */
  stateOf?(row: R, now?: number): Toned
  readonly columns: readonly NounColumn<R>[]
  /** All facts; empty ones are omitted. */
  facts?(row: R): readonly NounFact[]
  /** Suggested next command. */
  nextOf?(row: R): string | undefined
}

type RowIn<K extends ListName, M extends keyof WireAnswer<K>> = WireAnswer<K>[M] extends readonly (infer R)[]
  ? R
  : never

/** Columns and texts of a list that has no noun. */
export function listing<const K extends ListName, const M extends keyof WireAnswer<K>>({
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

/** The rows of a page, under whatever name the endpoint gives them. */
export function rowsOf<R>(page: NounPage): readonly R[] {
  // Cast: the noun's list endpoint determines the row type.
  return Object.values<unknown>(page).find(Array.isArray) as readonly R[]
}

type Next = readonly [words: string, at: string | null]

/** Column with the next event and its time, such as `is charged in 12d`. Overdue events are highlighted. */
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

/** Meaning of a text, shown by a color. The text alone must also say it. */
type Mood = 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'accent'
type Sign = { readonly text: string; readonly tone: Mood }
export type Toned = string | Sign
const toned =
  (tone: Mood) =>
  (text: string): Sign => ({ text, tone })
export const dim = toned('dim')
export const good = toned('good')
export const warn = toned('warn')
export const bad = toned('bad')
export const accent = toned('accent')

/** The displayed text of each state: its sign, then its word. */
export function statesOf<K extends string>(
  words: Readonly<Record<K, string>>,
  signs: Readonly<Record<K, Sign>>,
): Readonly<Record<K, Sign>> {
  return tableOf(keysOf(signs), (name) => ({ ...signs[name], text: `${signs[name].text} ${words[name]}` }))
}

/** Place of a column: the user's and public lists (`own`), the operator's (`all`), or the cockpit (`screen`). */
export type ListPlace = 'own' | 'all' | 'screen'

type Kind = 'id' | 'state' | 'name' | 'word' | 'money' | 'count' | 'time' | 'age'

export type NounColumn<R> = {
  readonly title: string
  /** Title in operator lists, if different from `title`. */
  readonly all?: string
  readonly kind: Kind
  /** @param now business time */
  value(row: R, now?: number): Toned | number | null | undefined
  /** Full value for JSON output (default: `value`). */
  plain?(row: R): string | number | boolean | null | undefined
  /** Columns with the highest number are dropped first if space is short (default: never dropped). */
  readonly drop?: number
  /** Smallest useful width, if larger than that of the column's kind. */
  readonly min?: number
  /** (default: all) */
  readonly on?: readonly ListPlace[]
}

export type More<R> = Partial<Pick<NounColumn<R>, 'all' | 'plain' | 'drop' | 'min' | 'on'>>

const columnOf =
  (kind: Kind) =>
  <R>(title: string, value: NounColumn<R>['value'], more: More<R> = {}): NounColumn<R> => ({
    title,
    kind,
    value,
    ...more,
  })

/** Never cut. On screens, the id is the last column and the first to be dropped. */
export const id = columnOf('id')
/** May be cut, but is never dropped. */
export const name = columnOf('name')
/** The API's status. Screens show this column first, with the text that the noun's `stateOf` returns. */
export const state = columnOf('state')
export const word = columnOf('word')
/** Dollar amounts that are never cut off. JSON output has the value of `plain`. */
export const money = columnOf('money')
export const count = columnOf('count')
/** An API time, past or future. */
export const time = columnOf('time')

/** Age; cockpit only. */
export function age<R>(at: (row: R) => string | null, drop = 1): NounColumn<R> {
  const value: NounColumn<R>['value'] = (row, now) => {
    const since = at(row)
    return since === null || now === undefined ? null : shortSpan(Math.max(0, now - Date.parse(since)))
  }
  return { title: 'AGE', kind: 'age', value, plain: at, drop, on: ['screen'] }
}

export function columnsIn<R>(columns: readonly NounColumn<R>[], place: ListPlace): readonly NounColumn<R>[] {
  return columns.filter(({ on }) => on === undefined || on.includes(place))
}

export function textOf(shown: ReturnType<NounColumn<never>['value']>): string | number | null {
  return typeof shown === 'object' ? (shown?.text ?? null) : (shown ?? null)
}
