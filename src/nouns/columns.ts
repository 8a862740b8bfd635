import { deadlineSpan, shortSpan } from '../text/text.ts'
import { dim, type Toned, warn } from './tones.ts'

/* Columns of a noun's list. `column.money('PRICE', …)` says what the values are, and so how they are painted. */

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

type Next = readonly [words: string, at: string | null]

/** Column with the next event and its time, such as `is charged in 12d`. Overdue events are highlighted. */
export function next<R>(nextOf: (row: R) => Next | undefined, min?: number): NounColumn<R> {
  const value: NounColumn<R>['value'] = (row, now) => {
    const [words, at = null] = nextOf(row) ?? []
    if (words !== undefined && at === null) return warn(words)
    if (words === undefined || at === null || now === undefined) return dim('—')
    const left = Date.parse(at) - now
    return left < 0 ? warn(`${words}, due ${shortSpan(-left)} ago`) : `${words} in ${deadlineSpan(left)}`
  }
  return { title: 'NEXT', kind: 'word', value, ...(min === undefined ? { drop: 1 } : { min }), on: ['screen'] }
}

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
