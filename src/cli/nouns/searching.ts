import {
  type ListFields,
  type ListOrders,
  MAX_FILTER_CHARS,
  parseFilter,
  sortDescription,
  sortWords,
} from '../../core/filter.ts'
import { compact } from '../../core/record.ts'
import * as z from '../params.ts'
import { watchOptions } from '../run/watched.ts'

/** `--filter` and `--sort` of a list: the marketplace looks through all of its pages. */
export function searchOptions<const L extends ListFields, const O extends ListOrders = Record<never, string>>(
  fields: L,
  orders?: O,
) {
  const problemOf = (text: string) => {
    const parsed = parseFilter(text, fields)
    return parsed.ok ? undefined : parsed.problem
  }
  return {
    filter: z
      .string()
      .max(MAX_FILTER_CHARS)
      .refine(
        (text) => problemOf(text) === undefined,
        (text) => problemOf(text) ?? '',
      )
      .optional()
      .meta({
        description: `words, !word, field:a,b, field:!a, field:>1; fields are ${Object.keys(fields).join(', ')}`,
        value: 'words',
      }),
    sort: z
      .enum(sortWords(fields, orders))
      .optional()
      .meta({ description: sortDescription(orders), value: 'field' }),
  }
}

const PAGE_ROWS = 20
const PAGE_ROWS_MAX = 100

/** The same, page by page, and shown anew where somebody watches. */
export function searchedPageOptions<const L extends ListFields, const O extends ListOrders = Record<never, string>>(
  fields: L,
  orders?: O,
) {
  return {
    ...searchOptions(fields, orders),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
    ...watchOptions,
  }
}

/** Of what is sold: whether it is offered. */
export const offeredStatus = z
  .enum(['active', 'inactive'])
  .optional()
  .meta({ description: 'only with this status (default: active)', value: 'state' })

type Asked<S extends string> = {
  readonly limit: number
  readonly page: number
  readonly filter?: string | undefined
  readonly sort?: S | undefined
}

/** What the marketplace is asked for by these options; what narrows the list besides them is added. */
export function searchedPage<S extends string>({ limit, page, filter, sort }: Asked<S>) {
  return { limit: String(limit), offset: String((page - 1) * limit), ...compact({ filter, sort }) }
}

type Listed = {
  readonly total: number
  readonly offset: number
  readonly searched?: { readonly rows: number; readonly of: number } | undefined
}

/** Which rows of a list are shown: `1 to 20 of 41`; of what was looked for, `1 to 3 of 3 found among 1,204`. */
export function listNote({ total, offset, searched }: Listed, rows: number, none: string): string {
  const among = searched === undefined ? '' : ` found among ${amongOf(searched)}`
  return rows === 0 ? `${none}${among}` : `${offset + 1} to ${offset + rows} of ${total}${among}`
}

function amongOf({ rows, of }: { readonly rows: number; readonly of: number }): string {
  return rows < of ? `the first ${rows} of ${of}: narrow it down by status to look at others` : String(of)
}
