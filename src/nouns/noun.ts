import type { WireAnswer } from '../api/index.ts'
import type { Callable } from '../client/asked.ts'
import type { NounColumn } from './columns.ts'
import type { Toned } from './tones.ts'

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
  /** A screen of the cockpit with this list, named by `plural`. */
  readonly screen?: {
    readonly title: string
    /** Command that prints the list. Typed in the palette, it opens the screen. */
    readonly command: string
    /** What the list can be filtered by. */
    readonly fields: keyof typeof import('../api/endpoint/list-fields.ts')
  }
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
