import {
  type ListFields,
  type ListOrders,
  MAX_FILTER_CHARS,
  parseFilter,
  sortDescription,
  sortWords,
} from '../../core/filter.ts'
import * as z from '../params.ts'

/** `--filter` and `--sort`, applied over all pages. */
export function searchOptions(fields: ListFields, orders?: ListOrders) {
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
        description: `one or more of: words  !word  field:a,b  field:!a  field:>1; fields: ${Object.keys(fields).join(', ')}`,
        value: 'words',
      }),
    sort: z.choice(sortWords(fields, orders), { description: sortDescription(orders), value: 'field' }),
  }
}
