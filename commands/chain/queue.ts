import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

const PAGE_ROWS_MAX = 100

type Transaction = WireAnswer<Api['getChain']>['transactions'][number]

const columns: readonly Column<Transaction>[] = [
  { title: 'NONCE', value: ({ nonce }) => String(nonce), align: 'right' },
  {
    title: 'STATE',
    value: ({ state, ok }) => (ok === false ? `${state}, reverted` : state),
    plain: ({ state }) => state,
  },
  { title: 'WHAT', value: whatOf, flexible: true },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'SENT', value: ({ sent_at: at }) => at, drop: 2 },
  { title: 'BLOCK', value: ({ block }) => String(block ?? ''), align: 'right', drop: 1 },
  { title: 'HASH', value: ({ mined, hashes }) => mined ?? hashes.at(-1) ?? '', drop: 3 },
]

function whatOf({ call, transfers }: Transaction): string {
  return call ?? `${transfers} transfer${transfers === 1 ? '' : 's'}`
}

export const command = defineCommand({
  name: 'chain queue',
  summary: 'list transactions that are not final, oldest first',
  description:
    'States: signed (sent, not in a block yet), included and confirmed (in a block that can still be reverted), superseded (another transaction used the nonce). Needs the admin key of the instance.',
  options: z.object({
    all: z.boolean().default(false).meta({ description: 'include final ones, newest first' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk chain queue', 'souk chain queue --all --limit 5 --json'],
  async run(context) {
    const { all, limit, page } = context.options
    const query = { state: all ? 'all' : 'open', limit: String(limit), offset: String((page - 1) * limit) } as const
    const { transactions, total, offset, queue, health } = await (await context.session()).call('getChain', { query })
    return { transactions, total, limit, offset, queue, health }
  },
  rows: ({ transactions }) => transactions,
  columns,
  view({ transactions, total, offset, queue }, io) {
    printRows(io, columns, transactions)
    const place = transactions.length === 0 ? 'none' : `${offset + 1} to ${offset + transactions.length} of ${total}`
    io.note(queue.waiting === 0 ? place : `${place}; ${queue.waiting} wait for a transaction`)
  },
})
