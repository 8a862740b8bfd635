import { shortSpan } from '../text/text.ts'

/* Columns as values: what the tables of the command line and those of the cockpit are both painted from. */

/** What a stretch of text means; colour only repeats what its words say. */
export type Mood = 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'accent'
export type Toned = string | { readonly text: string; readonly tone: Mood }
const toned = (tone: Mood) => (text: string) => ({ text, tone })
export const dim = toned('dim')
export const good = toned('good')
export const warn = toned('warn')
export const bad = toned('bad')
export const accent = toned('accent')

/** Lists that a column stands in: of what is the caller's own or public, of everybody for the operator, of the cockpit. */
export type ListPlace = 'own' | 'all' | 'screen'

type Kind = 'id' | 'state' | 'name' | 'word' | 'money' | 'count' | 'time' | 'age'

export type NounColumn<R> = {
  readonly title: string
  /** How the operator's lists call it, where that differs: what is paid is not paid by the operator. */
  readonly all?: string
  readonly kind: Kind
  /** @param now business time */
  value(row: R, now?: number): Toned | number | null | undefined
  /** The whole value for programs; default: `value`. */
  plain?(row: R): string | number | boolean | null | undefined
  /** Left out first where there is little room, the highest number before the others; without one it always stays. */
  readonly drop?: number
  /** Least width on a screen that still says something, where its kind wants more than that. */
  readonly min?: number
  /** Everywhere where missing. */
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

/** Never cut; the last of a screen, where it is the first to go. */
export const id = columnOf('id')
/** What it is called: may be cut, and never goes. */
export const name = columnOf('name')
/** The word of the interface for how it stands; on a screen the state of the noun, which is the first of the row. */
export const state = columnOf('state')
export const word = columnOf('word')
/** Dollars, which are never cut; programs get `plain`. */
export const money = columnOf('money')
export const count = columnOf('count')
/** A time of the interface: when something was, or is to be. */
export const time = columnOf('time')

/** How long ago something was; the cockpit's alone, where time goes on. */
export function age<R>(at: (row: R) => string | null, drop = 1): NounColumn<R> {
  const value: NounColumn<R>['value'] = (row, now) => {
    const since = at(row)
    return since === null || now === undefined ? null : shortSpan(Math.max(0, now - Date.parse(since)))
  }
  return { title: 'AGE', kind: 'age', value, drop, on: ['screen'] }
}

export function columnsIn<R>(columns: readonly NounColumn<R>[], place: ListPlace): readonly NounColumn<R>[] {
  return columns.filter(({ on }) => on === undefined || on.includes(place))
}

export function textOf(shown: ReturnType<NounColumn<never>['value']>): string | number | null {
  return typeof shown === 'object' ? (shown?.text ?? null) : (shown ?? null)
}
