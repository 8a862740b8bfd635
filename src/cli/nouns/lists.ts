import { columnsIn, type ListPlace, textOf } from '../../nouns/columns.ts'
import { type ListName, type ListOf, type Noun, type NounPage, rowsOf } from '../../nouns/noun.ts'
import { bold, cyan, kebab } from '../../text/text.ts'
import { type Command, watchOptions } from '../command.ts'
import type { Io } from '../io.ts'
import { type Column, printRows } from '../output.ts'
import * as z from '../params.ts'
import type { Session } from '../session.ts'
import type { searchOptions } from './search-options.ts'

const PAGE_ROWS = 20
export const PAGE_ROWS_MAX = 100

export const pageOptions = {
  limit: z.between(1, PAGE_ROWS_MAX).default(PAGE_ROWS).meta({ description: 'rows per page' }),
  page: z.int().min(1).default(1).meta({ description: 'page number' }),
}

export function pageOf({ limit, page }: { readonly limit: number; readonly page: number }) {
  return { limit: String(limit), offset: String((page - 1) * limit) }
}

export const offeredStatus = z.choice(['active', 'inactive'], {
  description: 'only with this status (default: active)',
  value: 'state',
})

/** Row range: `1 to 20 of 41`; for searches `1 to 3 of 3 found among 1,204`. */
function listNote({ total, offset, searched }: NounPage, rows: number, none: string): string {
  const among = searched === undefined ? '' : ` found among ${amongOf(searched)}`
  return rows === 0 ? `${none}${among}` : `${offset + 1} to ${offset + rows} of ${total}${among}`
}

function amongOf({ rows, of }: { readonly rows: number; readonly of: number }): string {
  return rows < of ? `searched the first ${rows} of ${of}: filter by status to find others` : String(of)
}

/** The columns of a noun, as the command line prints them. */
export function columnsOf<R>({ columns }: Pick<Noun<R>, 'columns'>, place: ListPlace): readonly Column<R>[] {
  return columnsIn(columns, place).map(({ title, all, kind, value, plain, drop }) => ({
    title: place === 'own' ? title : (all ?? title),
    value: (row) => textOf(value(row)),
    ...(plain === undefined ? {} : { plain }),
    ...(kind === 'money' || kind === 'count' ? { align: 'right' as const } : {}),
    ...(kind === 'name' ? { flexible: true as const } : {}),
    ...(drop === undefined ? {} : { drop }),
  }))
}

type Listed<R> = Pick<Noun<R>, 'list' | 'columns' | 'none'>

export function showPage<R>(
  noun: Pick<Listed<R>, 'columns' | 'none'>,
  page: NounPage,
  { io, place }: { io: Io; place: ListPlace },
): void {
  const rows = rowsOf<R>(page)
  printRows(io, columnsOf(noun, place), rows)
  io.note(listNote(page, rows.length, noun.none))
  const end = page.offset + rows.length
  if (end < page.total && rows.length > 0 && page.searched === undefined)
    io.note(`  next page: --page ${Math.floor(page.offset / page.limit) + 2}`)
}

type Words = Pick<Command, 'name' | 'summary' | 'description' | 'aliases' | 'isDefault' | 'examples'>
type ListSpec<R> = Words & {
  /** More options of the command. Each is sent as the query member of the same name. */
  readonly options?: Readonly<Record<string, z.AnyParam>>
  /** The list that is requested in place of the noun's list: the caller's own one, or the public one. */
  readonly list?: ListOf<R>
  /** Options for filter and sort. Lists of the caller's own objects omit them, since loading the options takes time. */
  readonly search?: ReturnType<typeof searchOptions>
  /** Prints a note below the table. */
  readonly note?: (page: NounPage, io: Io) => void
}

export function listCommand<R>(noun: Listed<R>, spec: ListSpec<R>): Command {
  const { options, list = noun.list, search, note, ...words } = spec
  const place = search === undefined ? 'own' : 'all'
  const columns: readonly Column<never>[] = columnsOf(noun, place)
  return {
    ...(place === 'all' ? { description: 'Needs the admin key of the instance.' } : {}),
    ...words,
    args: z.object({}),
    options: z.object({ ...options, ...search, ...pageOptions, ...watchOptions }),
    prints: list,
    run: async ({ options: given, session }) => askList(await session(), list, given),
    rows: (data) => rowsOf<never>(data as NounPage), // it is what `run` gave
    columns,
    view(data, io) {
      const page = data as NounPage // it is what `run` gave
      showPage(noun, page, { io, place })
      note?.(page, io)
    },
  }
}

type Given = Readonly<Record<string, unknown>>

/** Requests a list. The options are not checked here: the instance checks them. */
async function askList(session: Session, list: ListName, given: Given): Promise<NounPage> {
  const call = session.call as (name: ListName, asked: object) => Promise<NounPage>
  return call(list, { query: queryOf(given), headers: given.mine === true ? await session.ownHeaders() : {} })
}

/** Options as query members: `--min-price 1` becomes `min_price=1`. Options without a value are omitted. */
function queryOf({ limit, page, watch: _, interval: _every, search: q, ...more }: Given) {
  const given = Object.entries({ q, ...more }).filter(([, value]) => value !== undefined && value !== false)
  const words = given.map(([name, value]) => [kebab(name).replaceAll('-', '_'), String(value)] as const)
  return { ...pageOf({ limit: Number(limit), page: Number(page) }), ...Object.fromEntries(words) }
}

const LABEL_COLUMNS = 12

export function showNoun<R>(noun: Noun<R>, row: R, io: Io): void {
  const state = noun.stateOf === undefined ? '' : `   ${textOf(noun.stateOf(row))}`
  io.line(`${bold(noun.idOf(row))}   ${noun.nameOf(row)}${state}`)
  for (const [label, words] of noun.facts?.(row) ?? [])
    if (words !== '') io.line(`  ${label.padEnd(LABEL_COLUMNS)}${words}`)
  const next = noun.nextOf?.(row)
  if (next !== undefined) io.note(`  ${'next'.padEnd(LABEL_COLUMNS)}${cyan(io.hint(next))}`)
}
