import { z } from 'zod'
import {
  type Filter,
  type ListFields,
  type ListOrders,
  MAX_FILTER_CHARS,
  MAX_SEARCHED_ROWS,
  parseFilter,
  type SortWord,
  sortDescription,
  sortWords,
} from '../../core/filter.ts'

/** Filter and sort parameters. They apply to the whole list, not to a page. */
export function listQuery<L extends ListFields, const O extends ListOrders = Record<never, string>>(
  fields: L,
  orders?: O,
) {
  const names = Object.keys(fields).join(', ')
  return {
    filter: filterOf(fields)
      .optional()
      .meta({ description: `words, !word, "two words", field:a,b, field:!a, field:>1; fields are ${names}` }),
    sort: z
      .enum(sortWords(fields, orders) as readonly [SortWord<L, O>, ...SortWord<L, O>[]]) // no list is without a field
      .optional()
      .meta({ description: sortDescription(orders) }),
  }
}

function filterOf(fields: ListFields) {
  return z
    .codec(z.string().max(MAX_FILTER_CHARS), z.custom<Filter>(), {
      decode(text, context) {
        const parsed = parseFilter(text, fields)
        if (parsed.ok) return parsed.filter
        context.issues.push({ code: 'custom', message: parsed.problem, input: text })
        return z.NEVER
      },
      encode: ({ text }) => text,
    })
    .meta({ type: 'string', maxLength: MAX_FILTER_CHARS })
}

/** Extra members of a filtered or sorted list. */
export const searched = {
  searched: z
    .strictObject({
      rows: z.int().meta({ description: 'number of rows searched, from the start of the list' }),
      of: z.int().meta({ description: 'number of rows without the filter' }),
    })
    .optional()
    .meta({
      description: `only with a filter or sort; \`total\` then counts the matches, and at most ${MAX_SEARCHED_ROWS} rows are searched`,
    }),
}
