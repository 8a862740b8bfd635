import type { z as schema } from 'zod'
import { receiptStates } from '../src/api/sections/books.ts'
import type { OwnPayment } from '../src/api/sections/export.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { PRIVATE_FILE_MODE } from '../src/client/files.ts'
import { writeWhole } from '../src/client/whole-file.ts'
import { bold, green } from '../src/text/text.ts'

type Payment = schema.input<typeof OwnPayment>

const MAX_ROWS = 1_000

const columns: readonly Column<Payment>[] = [
  { title: 'RECEIPT', value: ({ receipt_id: id }) => id },
  { title: 'WHEN', value: ({ created_at: at }) => at },
  { title: 'PAID', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'BY', value: ({ method }) => method, drop: 1 },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'FOR', value: ({ endpoint }) => endpoint, drop: 2 },
]

export const receiptsList = defineCommand({
  name: 'receipts list',
  summary: 'list receipts of what you paid, newest first',
  options: z.object({ limit: z.between(1, MAX_ROWS).default(20).meta({ description: 'number of receipts' }) }),
  examples: ['souk receipts list', 'souk receipts list --limit 5 --json'],
  async run(context): Promise<{ receipts: Payment[] }> {
    const session = await context.session()
    const { linesOf } = await import('../src/cli/nouns/export-lines.ts')
    using progress = context.io.progress('reading receipts')
    const watch = (records: number) => progress.update(`reading receipts   ${records} records`)
    let receipts: Payment[] = []
    for await (const { parsed } of linesOf(await session.open('getExport', { query: { only: 'payment' } }), watch)) {
      if (parsed.kind !== 'payment' || !receiptStates.some((state) => state === parsed.record.status)) continue
      receipts.push(parsed.record)
      if (receipts.length > 2 * context.options.limit) receipts = receipts.slice(-context.options.limit)
    }
    return { receipts: receipts.slice(-context.options.limit).toReversed() }
  },
  rows: ({ receipts }) => receipts,
  columns,
  view({ receipts }, io) {
    printRows(io, columns, receipts)
    const [first] = receipts
    io.note(first ? `  next: ${io.hint(`souk receipts view ${first.receipt_id}`)}` : 'nothing was paid yet')
  },
})

const options = z.object({
  html: z.text({ description: 'save the page to print in this file', value: 'file' }),
  operator: z.flag({ description: 'as the operator (needs the admin key)' }),
})
type Context = CommandContext<{ receipt: string }, z.output<typeof options>>

export const receiptsView = defineCommand({
  name: 'receipts view',
  summary: 'show the receipt of a payment that you made or received',
  args: z.object({ receipt: z.string().meta({ description: 'receipt id' }) }),
  options,
  examples: ['souk receipts view rcp_0123456789abcdef', 'souk receipts view rcp_0123456789abcdef --json'],
  prints: 'getReceipt',
  async run(context) {
    const { args, options: given } = context
    const session = await context.session()
    const headers = given.operator ? await session.adminHeaders() : await session.ownHeaders()
    const receipt = await session.call('getReceipt', { params: { id: args.receipt }, headers })
    if (given.html !== undefined) await savePage(context, session, { file: given.html, headers })
    return receipt
  },
  view({ seller, buyer, ...receipt }, io) {
    io.line(`${bold(receipt.id)}   ${receipt.date}   ${receipt.status}`)
    io.line(`  for       ${receipt.description}${receipt.reference === null ? '' : `   ${receipt.reference.id}`}`)
    io.line(`  paid      ${bold(`$${receipt.amount}`)} by ${receipt.method}   refunded $${receipt.refunded}`)
    io.line(`  of it     fee $${receipt.fee}   seller $${receipt.net}`)
    io.line(`  seller    ${seller.name ?? 'the marketplace'}   ${seller.participant_id ?? ''}`)
    for (const text of Object.values(seller.tax ?? {})) io.line(`            ${text}`)
    io.line(`  buyer     ${buyer.name ?? buyer.wallet}   ${buyer.participant_id ?? ''}`)
    if (receipt.transaction !== null) io.line(`  on chain  ${receipt.network}   ${receipt.transaction}`)
  },
})

type Page = { readonly file: string; readonly headers: Readonly<Record<string, string>> }

async function savePage({ args, io }: Context, { transport }: Session, { file, headers }: Page): Promise<void> {
  const path = `/v1/receipts/${encodeURIComponent(args.receipt)}`
  const page = await transport({ method: 'GET', path, headers: { ...headers, accept: 'text/html' } })
  const bytes = await page.bytes()
  await writeWhole(file, (append) => append(bytes), PRIVATE_FILE_MODE)
  io.say(`${green('✓')} saved ${io.path(file)}`)
}
