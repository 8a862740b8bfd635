import { keysOf, tableOf } from '../core/record.ts'
import { shortSpan } from '../text/text.ts'

/** Meaning of a text, shown by a color. The text alone must also say it. */
export type Mood = 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'accent'
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
