import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { columnsOf, pageOf, pageOptions, showPage } from '../../src/cli/nouns/lists.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import type { Session } from '../../src/cli/session.ts'
import { compact } from '../../src/core/record.ts'
import { type Posting, posting } from '../../src/nouns/postings.ts'

const POLL_MS = 2_000

const options = z.object({
  status: z
    .enum(['open', 'awarded', 'completed', 'cancelled', 'expired'])
    .optional()
    .meta({ description: 'only in this state' }),
  category: z.string().optional().meta({ description: 'only of this category', value: 'name' }),
  search: z.string().optional().meta({ short: 's', description: 'search words', value: 'words' }),
  minBudget: z.string().optional().meta({ description: 'lowest budget', value: 'usd' }),
  maxBudget: z.string().optional().meta({ description: 'highest budget', value: 'usd' }),
  createdAfter: z.string().optional().meta({ description: 'created after this time', value: 'time' }),
  cursor: z.string().optional().meta({ description: 'continue after this next_cursor', value: 'cursor' }),
  follow: z.boolean().default(false).meta({ short: 'f', description: 'keep printing new ones' }),
  ...pageOptions,
  ...watchOptions,
})
type Host = CommandContext<unknown, z.output<typeof options>>
const columns = columnsOf(posting, 'own')
/** A page, or one of those that came while following. */
type Shown = WireAnswer<Api['listPostings']> | Posting

export const command = defineCommand({
  name: 'requests list',
  summary: 'list requests for work, oldest first',
  aliases: ['postings list'],
  options,
  examples: [
    'souk requests list --status open',
    'souk requests list -s translate --json',
    'souk requests list --created-after 2026-01-01T00:00:00Z --ndjson',
  ],
  run: (context) => (context.options.follow ? follow(context) : once(context)),
  rows: (data) => ('postings' in data ? data.postings : [data]),
  columns,
  view(data, io) {
    if ('postings' in data) showPage(posting, data, { io, place: 'own' })
    else printRows(io, columns, [data])
  },
})

async function once(context: Host): Promise<Shown> {
  const { cursor, page, limit } = context.options
  if (cursor !== undefined && page > 1) throw usage('--cursor and --page go on in two ways: give one of them.')
  const place = cursor === undefined ? pageOf({ limit, page }) : { cursor }
  return read(await context.session(), context, place)
}

/** All that match, then each new one as it is made. */
async function* follow(context: Host): AsyncGenerator<Shown> {
  const { signal, system, options: wanted } = context
  if (wanted.search !== undefined) throw usage('--follow goes by time, a --search by relevance: give one of them.')
  const session = await context.session()
  let cursor = wanted.cursor
  while (!signal.aborted) {
    const { postings, next_cursor } = await read(session, context, cursor === undefined ? {} : { cursor })
    yield* postings
    cursor = next_cursor ?? cursor
    if (postings.length === 0) await system.sleep(POLL_MS, signal)
  }
}

function read(session: Session, { options: wanted }: Host, place: { cursor?: string; offset?: string }) {
  const { status, category, search, minBudget, maxBudget, createdAfter, limit } = wanted
  const query = compact({
    status,
    category,
    q: search,
    min_budget_usd: minBudget,
    max_budget_usd: maxBudget,
    created_after: createdAfter,
    limit: String(limit),
    ...place,
  })
  return session.call('listPostings', { query })
}
