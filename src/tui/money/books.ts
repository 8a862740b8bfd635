import { formatAmount } from '../../core/money.ts'
import { count, firstThatFits, padEnd, widthOf } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { bar } from '../parts/charts.ts'
import { accent, bad, dim, good, type Line, placed, rule, strong } from '../parts/line.ts'
import { microsOf, onThePoint, shownMoney } from '../parts/river.ts'
import { type Binding, keyFor } from '../shell/bindings.ts'
import type { River } from '../shell/figures.ts'
import { waitingLines } from '../shell/notice.ts'
import type { Query } from '../shell/query.ts'

type Kind = River['books'][number]['kind']

const NAME_COLUMNS = 19
const COUNT_COLUMNS = 13
const BAR_COLUMNS = 12
/** From this screen height, every kind of account has its own row. */
const ALL_ROWS_FROM = 18

/** Rows of the books, in the order in which money flows. Together they cover every kind of account. */
const rows: readonly { readonly name: string; readonly kinds: readonly Kind[]; readonly of: string }[] = [
  { name: 'escrow', kinds: ['esc'], of: 'job' },
  { name: 'balances', kinds: ['bal', 'hold'], of: 'account' },
  { name: 'owed to providers', kinds: ['prov'], of: 'provider' },
  { name: 'payouts under way', kinds: ['out', 'rfd'], of: 'payout' },
  { name: 'fees', kinds: ['fees', 'ops', 'oper', 'cold'], of: '' },
  { name: 'referral money', kinds: ['ref', 'refp'], of: 'referrer' },
  { name: 'kept back', kinds: ['blk'], of: 'wallet' },
]
/** Number of rows shown if the area is too low for all rows. */
const SHORT_ROWS = 3

type Room = {
  readonly width: number
  readonly height: number
  readonly keys: readonly Binding[]
  /** Notes by row name, longest first. */
  readonly notes: Readonly<Record<string, readonly string[]>>
}

/** Draws the balances by kind of account, and whether they add up. */
export function booksLines(books: Query<River>, { width, height, keys, notes }: Room): Line[] {
  const { value } = books
  if (value === undefined) return [rule(width, 'Books'), ...waitingLines(books, width).slice(0, 2)]
  const shown = rows.map((row) => ({ ...row, ...sumOf(value, row.kinds) }))
  const all = shown.reduce((sum, { micros }) => sum + micros, 0n)
  const listed = height >= ALL_ROWS_FROM ? shown : shown.slice(0, SHORT_ROWS)
  const amounts = onThePoint(
    [...listed.map(({ micros }) => micros), all].map((micros) => shownMoney(formatAmount(micros))),
  )
  const widest = Math.max(...amounts.map(widthOf))
  const wishes = (name: string, micros: bigint): readonly string[] => {
    if (name === 'escrow') return escrowNotes(value)
    return micros === 0n ? [] : (notes[name] ?? [])
  }
  const lines = listed.map(({ name, of, accounts, micros }, i): Line => {
    const many = of === '' ? '' : `${count(accounts)} ${of}${accounts === 1 ? '' : 's'}`
    const share = all > 0n ? Number((micros * 1_000n) / all) / 1_000 : 0
    const [at, end] = [NAME_COLUMNS + COUNT_COLUMNS + 1, NAME_COLUMNS + COUNT_COLUMNS + widest + 4]
    return placed(width, [
      [1, [name]],
      [NAME_COLUMNS + 1, [dim(padEnd(many, COUNT_COLUMNS))]],
      [at, [strong(padEnd(amounts[i] ?? '', widest))]],
      [end, [accent(bar(share, BAR_COLUMNS))]],
      [end + BAR_COLUMNS + 1, [dim(firstThatFits(wishes(name, micros), width - end - BAR_COLUMNS - 2))]],
    ])
  })
  const total = totalLine({ amount: amounts.at(-1) ?? '', widest, all, value }, width)
  return [rule(width, 'Books', markOf(value, keys)), ...lines, total]
}

function markOf({ agrees, checked_at: checkedAt }: River, keys: Room['keys']): Line {
  const at = checkedAt === null ? '' : `  ${clockTime(Date.parse(checkedAt))}`
  const mark = agrees ? good('✓ agree to the cent') : bad('✗ do not agree')
  return [mark, dim(at), '  ', accent(keyFor('audit', keys)), dim(' check now')]
}

function escrowNotes({ disputed, overdue }: River): readonly string[] {
  const parts = [
    ...(Number(disputed) > 0 ? [`${shownMoney(disputed)} disputed`] : []),
    ...(Number(overdue) > 0 ? [`${shownMoney(overdue)} late`] : []),
  ]
  return [parts.join(', '), parts[0] ?? '']
}

type Total = { readonly amount: string; readonly widest: number; readonly all: bigint; readonly value: River }

/** The sum of all accounts. It must equal what came in minus what left. */
function totalLine({ amount, widest, all, value }: Total, width: number): Line {
  const came = -sumOf(value, ['ext']).micros
  const at = NAME_COLUMNS + COUNT_COLUMNS + widest + 4
  const agreed = ['= what came in − what left', '= in − out'].find((words) => widthOf(words) < width - at) ?? ''
  const told = `✗ came in ${shownMoney(formatAmount(came))}`
  const fault = bad(widthOf(told) < width - at ? told : '✗ not in − out')
  const words = came === all ? dim(agreed) : fault
  return placed(width, [
    [1, [strong('all of it')]],
    [NAME_COLUMNS + COUNT_COLUMNS + 1, [strong(amount)]],
    [at, [words]],
  ])
}

function sumOf({ books }: River, kinds: readonly Kind[]): { readonly accounts: number; readonly micros: bigint } {
  const found = books.filter(({ kind }) => kinds.includes(kind))
  return {
    accounts: found.reduce((sum, { accounts }) => sum + accounts, 0),
    micros: found.reduce((sum, { amount }) => sum + microsOf(amount), 0n),
  }
}
