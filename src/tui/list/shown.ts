import type { Facts, ListFields } from '../../core/filter.ts'
import type { ScreenId } from '../../model/words.ts'
import type { ListName, Noun } from '../../nouns/noun.ts'
import type { ScreenColumn } from '../parts/table.ts'
import type { Query } from '../shell/query.ts'
import type { Face, Screen } from '../shell/screen.ts'
import type { Ui } from '../shell/ui.ts'

export const PAGE = 50

/** A page of rows. `among` says how many rows were searched, if not all. */
export type NounRows<R> = { readonly rows: readonly R[]; readonly total: number; readonly among?: string }

/** Filter that always applies, and the default order. */
export type AlwaysAsked = { readonly filter?: string; readonly sort?: string; readonly status?: string }

/** A list of the cockpit: which rows it has, and how they are fetched. */
export type ListRows<R> = {
  readonly id: ScreenId
  readonly noun: Omit<Noun<R>, 'list' | 'none'> & { readonly list: ListName }
  /** Fields to filter and sort by. */
  readonly fields: ListFields
  readonly asked?: AlwaysAsked
  /** Order of a page if the user has chosen none (default: that of the endpoint). */
  readonly compare?: (one: R, other: R) => number
  /** The views of the list. */
  readonly views?: {
    readonly all: readonly string[]
    /** The member of the cockpit's state that holds the chosen view. */
    readonly at: 'jobView' | 'threadView' | 'requestView' | 'endpointView'
    /** What each view asks for, as `asked`. */
    readonly asked?: Readonly<Record<string, AlwaysAsked>>
  }
  /** The list that is shown without the admin key. The cockpit filters its rows. */
  readonly own?: {
    /** Shown with the admin key, too. */
    readonly always?: true
    readonly factsOf: (row: R, now: number | undefined) => Facts
    readonly list: ListName
    /** What the endpoint itself can narrow by. */
    readonly asked?: (filter: string, ui: Ui) => object
  }
}

/** The rows that a list shows now. */
export type ShownRows<R> = {
  readonly list: Pick<ListRows<R>, 'id' | 'views' | 'fields'> & {
    readonly noun: Pick<Noun<R>, 'idOf'> & Partial<Pick<Noun<R>, 'name' | 'plural' | 'order' | 'source'>>
  }
  readonly rows: readonly R[]
  readonly chosen: number
  /** The chosen row. */
  readonly row: R | undefined
  readonly columns: readonly ScreenColumn<R>[]
  readonly listed: Query<unknown>
  /** How many rows were searched, if not all. */
  readonly among?: string | undefined
  /** Number of rows on all pages. */
  readonly total?: number | undefined
  /** Other views in which the filter matches, such as `2 in done, 2 in all`. Empty if this view has matches. */
  readonly elsewhere?: string
  /** Business time. */
  readonly now?: number | undefined
  /** What every list does. */
  readonly face: Omit<ReturnType<Screen['use']>, 'draw'> & { readonly actions: Face['actions'] }
}

/** The chosen view. Empty if the list has none. */
export function viewIn({ views }: Pick<ListRows<never>, 'views'>, ui: Ui): string {
  return views === undefined ? '' : ui[views.at]
}
