import { existsSync } from 'node:fs'
import { z as schema } from 'zod'
import type { Movement } from '../src/api/sections/books.ts'
import type { ExportStart } from '../src/api/sections/export.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import type { ExportLine } from '../src/cli/nouns/export-lines.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { PRIVATE_FILE_MODE } from '../src/client/files.ts'
import type { TransportResponse } from '../src/client/transport.ts'
import { writeWhole } from '../src/client/whole-file.ts'
import { Amount } from '../src/core/codecs.ts'
import { formatAmount, usdc, ZERO } from '../src/core/money.ts'
import { compact, keptIn } from '../src/core/record.ts'
import { DAY_MS } from '../src/core/time.ts'
import { csvText } from '../src/text/columns.ts'
import { MAX_PDF_LINES, MAX_PDF_PAGES, pdfOf } from '../src/text/pdf.ts'
import { clip, green, harmless, padEnd, padStart } from '../src/text/text.ts'

type Row = schema.input<typeof Movement> & { readonly date_local: string; readonly zone: string }
type Total = { readonly account: string; readonly rows: number } & Readonly<Record<Sum, string>>
type Item =
  | ({ readonly kind: 'statement'; readonly zone: string } & schema.input<typeof ExportStart>)
  | ({ readonly kind: 'movement' } & Row)
  | ({ readonly kind: 'total' } & Total)
/** What is printed: the items of `--json`, or text. */
type Printed = Item | { readonly text: string } | { readonly csv: string } | { readonly saved: string }

const sums = ['gross', 'fee', 'refund', 'net', 'gas_wei'] as const
type Sum = (typeof sums)[number]

const day = (description: string) =>
  z.text({ description, value: 'YYYY-MM-DD' }).refine(isDay, 'must be a day such as 2026-03-31')

const options = z.object({
  from: day('first day (UTC)'),
  to: day('last day (UTC)'),
  month: z
    .text({ description: 'one month (UTC)', value: 'YYYY-MM' })
    .refine((month) => isDay(`${month}-01`), 'must be like 2026-03'),
  year: z
    .text({ description: 'one year (UTC)', value: 'YYYY' })
    .refine((year) => isDay(`${year}-01-01`), 'must be like 2026'),
  zone: z.text({ description: 'time zone of the local dates (default: of this machine)', value: 'zone' }),
  provider: z.text({ description: 'statement of this participant (needs the admin key)', value: 'participant' }),
  operator: z.flag({ description: 'statement of the operator (needs the admin key)' }),
  csv: z.flag({ description: 'print CSV for a spreadsheet' }),
  pdf: z.text({ description: 'write a PDF file', value: 'file' }),
})
type Options = z.output<typeof options>
type Context = CommandContext<unknown, Options>

export const command = defineCommand({
  name: 'statement',
  heading: 'Money',
  summary: 'list every movement of your money, with totals',
  description:
    'Without a period, lists all. `net` is the change of the account. A sale is gross, less fee, less refund. --json (in place of --csv) prints one line for the owner, one for each movement, and one for the totals of each account. This is not tax advice.',
  options,
  ownText: true,
  examples: [
    'souk statement --year 2026 --ndjson',
    'souk statement --pdf ./downloads/statement.pdf --yes',
    'souk statement --operator --month 2026-03 --ndjson',
  ],
  run: (context) => run(context),
  view(item, io) {
    if ('csv' in item) io.bytes(Buffer.from(item.csv))
    else if ('text' in item) io.line(item.text)
    else if ('saved' in item) io.line(`${green('✓')} saved ${io.path(item.saved)}`)
  },
})

async function* run(context: Context): AsyncGenerator<Printed> {
  const { io, options: given } = context
  const isData = io.settings.format !== 'human'
  const items = itemsOf(context)
  if (given.pdf !== undefined) yield await savePdf(context, given.pdf, items)
  else if (isData) yield* items
  else if (given.csv) yield* csvOf(items)
  else for await (const item of items) for (const text of textOf(item)) yield { text }
}

async function* itemsOf(context: Context): AsyncGenerator<Item> {
  const { options: given, io } = context
  const zone = given.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const localTime = clockIn(zone)
  const response = await opened(await context.session(), given, periodOf(given))
  const { linesOf } = await import('../src/cli/nouns/export-lines.ts')
  using progress = io.progress('reading movements')
  const watch = (records: number) => progress.update(`reading movements   ${records} records`)
  const totals = new Map<string, Map<Sum | 'rows', bigint>>()
  for await (const { parsed } of linesOf(response, watch)) {
    if (parsed.kind === 'export') yield { kind: 'statement', zone, ...parsed.record }
    if (parsed.kind !== 'movement') continue
    add(totals, parsed.record)
    yield { kind: 'movement', ...parsed.record, date_local: localTime(parsed.record.date), zone }
  }
  for (const [account, sum] of totals) yield { kind: 'total', account, ...totalOf(sum) }
}

function opened(session: Session, { provider, operator }: Options, query: { from?: string; to?: string }) {
  if (provider === undefined && !operator)
    return session.open('getExport', { query: { ...query, only: 'movement' } }) as Promise<TransportResponse>
  return session.open('getStatement', { query: { ...query, ...compact({ participant: provider }) } })
}

const iso = (ms: number) => new Date(ms).toISOString()
const startOf = (text: string) => Date.parse(`${text}T00:00:00.000Z`)

function isDay(text: string | undefined): boolean {
  const start = startOf(text ?? '')
  return Number.isFinite(start) && iso(start).startsWith(text ?? '')
}
function periodOf({ from, to, month, year }: Options): { from?: string; to?: string } {
  if ([from ?? to, month, year].filter((one) => one !== undefined).length > 1)
    throw usage('Choose one of --from and --to, --month, and --year.')
  if (year !== undefined) return { from: iso(startOf(`${year}-01-01`)), to: iso(startOf(`${Number(year) + 1}-01-01`)) }
  if (month !== undefined) {
    const [start, next] = [new Date(startOf(`${month}-01`)), new Date(startOf(`${month}-01`))]
    next.setUTCMonth(next.getUTCMonth() + 1)
    return { from: start.toISOString(), to: next.toISOString() }
  }
  return compact({
    from: from === undefined ? undefined : iso(startOf(from)),
    to: to === undefined ? undefined : iso(startOf(to) + DAY_MS),
  })
}

/** Formats times like `2026-03-31 14:05:09` in a time zone. @throws CliError usage for an unknown zone */
function clockIn(timeZone: string): (time: string) => string {
  try {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
    return (time) => format.format(Date.parse(time))
  } catch {
    throw usage(`--zone ${timeZone}: unknown time zone; use one like Europe/Berlin.`)
  }
}

type Movements = Extract<ExportLine, { readonly kind: 'movement' }>['record']

function add(totals: Map<string, Map<Sum | 'rows', bigint>>, record: Movements): void {
  const sum = keptIn(totals, record.account, () => new Map<Sum | 'rows', bigint>())
  sum.set('rows', (sum.get('rows') ?? 0n) + 1n)
  for (const name of sums) {
    const value = name === 'gas_wei' ? BigInt(record.gas_wei ?? 0) : schema.decode(Amount, record[name])
    sum.set(name, (sum.get(name) ?? 0n) + value)
  }
}

function totalOf(sum: ReadonlyMap<Sum | 'rows', bigint>): Omit<Total, 'account'> {
  const text = (name: Sum) => formatAmount(usdc(sum.get(name) ?? ZERO))
  const amounts = { gross: text('gross'), fee: text('fee'), refund: text('refund'), net: text('net') }
  return { rows: Number(sum.get('rows') ?? 0), ...amounts, gas_wei: String(sum.get('gas_wei') ?? 0) }
}

const CSV_COLUMNS =
  'date_utc,date_local,zone,account,type,counterparty,counterparty_name,gross,fee,refund,net,gas_wei,transaction,receipt_id,reference_kind,reference_id'

/** RFC 4180, with the mark by which spreadsheets recognise UTF-8. The totals come last, with the type `total`. */
async function* csvOf(items: AsyncIterable<Item>): AsyncGenerator<{ csv: string }> {
  yield { csv: `\ufeff${CSV_COLUMNS}\r\n` }
  for await (const item of items) {
    if (item.kind === 'statement') continue
    const row = item.kind === 'total' ? { ...NO_ROW, ...item, type: 'total' } : item
    const { gross, fee, refund, net, reference } = row
    const texts = [row.date, row.date_local, row.zone, row.account, row.type, row.counterparty, row.counterparty_name]
    const more = [row.gas_wei, row.transaction, row.receipt_id, reference.kind, reference.id]
    const cells = [...texts.map(cell), gross, fee, refund, net, ...more.map(cell)]
    yield { csv: `${cells.join(',')}\r\n` }
  }
}

const NO_ROW = {
  ...{ date: '', date_local: '', zone: '', counterparty: null, counterparty_name: null },
  ...{ transaction: null, receipt_id: null, reference: { kind: '', id: '' } },
}

const cell = (text: string | null) => (text === null || text === '' ? '' : csvText(harmless(text)))

const WIDTHS = { date: 19, account: 9, type: 16, other: 20, money: 13 } as const

/** Lines of text of at most 158 columns, which fit the page of a PDF. */
function textOf(item: Item): string[] {
  if (item.kind === 'statement') {
    const { participant_id: id, as_of, zone, tax } = item
    const names = [id ?? 'the operator', ...Object.values(tax ?? {})].map((text) => harmless(text ?? ''))
    const head = lineOf(['DATE', 'ACCOUNT', 'TYPE', 'WITH'], ['GROSS', 'FEE', 'REFUND', 'NET'], 'RECEIPT')
    return [`Statement of ${names.join(', ')}   as of ${as_of}   dates in ${zone}   not tax advice`, head]
  }
  const amounts = [item.gross, item.fee, item.refund, item.net]
  if (item.kind === 'total') {
    const gas = item.gas_wei === '0' ? '' : `gas ${item.gas_wei} wei`
    return [lineOf(['total', item.account, `${item.rows} rows`, ''], amounts, gas)]
  }
  const other = harmless(item.counterparty_name ?? item.counterparty ?? '')
  const line = lineOf([item.date_local, item.account, item.type, other], amounts, item.receipt_id ?? item.reference.id)
  const gas = item.gas_wei === null ? '' : `   gas ${item.gas_wei} wei`
  return item.transaction === null ? [line] : [line, `  tx ${harmless(item.transaction)}${gas}`]
}

function lineOf(texts: readonly string[], amounts: readonly string[], end: string): string {
  const widths = [WIDTHS.date, WIDTHS.account, WIDTHS.type, WIDTHS.other]
  const cells = texts.map((text, place) => padEnd(clip(text, widths[place] ?? 0), widths[place] ?? 0))
  return [...cells, ...amounts.map((text) => padStart(text, WIDTHS.money)), end].join('  ').trimEnd()
}

async function savePdf({ io }: Context, file: string, items: AsyncIterable<Item>): Promise<{ saved: string }> {
  if (existsSync(file)) await io.confirm(`Replace ${io.path(file)}?`)
  const lines: string[] = []
  for await (const item of items) {
    lines.push(...textOf(item))
    if (lines.length > MAX_PDF_LINES)
      throw usage(`More than ${MAX_PDF_PAGES} pages: choose a shorter period, or use --csv.`)
  }
  await writeWhole(file, (append) => append(pdfOf(lines)), PRIVATE_FILE_MODE)
  return { saved: file }
}
