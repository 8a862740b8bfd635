import { type ListFields, MAX_FILTER_CHARS, parseFilter, sortWords } from '../../core/filter.ts'
import * as z from '../params.ts'

/** `--filter` and `--sort` of a list: the marketplace looks through all of its pages. */
export function searchOptions<const L extends ListFields>(fields: L) {
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
      .enum(sortWords(fields))
      .optional()
      .meta({ description: 'a field, or -field for the other way round', value: 'field' }),
  }
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
