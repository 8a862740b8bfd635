import { amountOf, formatAmount } from '../../core/money.ts'
import { count, widthOf } from '../../text/text.ts'
import { bar, tank } from './charts.ts'
import { accent, bad, dim, good, type Line, lineWidth, type Piece, placed, sized, strong, warn } from './line.ts'

type PaidOn = 'providers' | 'fees' | 'refunds'
type Amount = 'paid_in' | 'by_x402' | 'by_balance' | 'at_once' | 'held' | 'overdue' | 'disputed' | PaidOn

/** Amounts like `1284.30`. */
export type RiverShown = Readonly<Record<Amount, string> & Record<'sales' | 'held_jobs', number>> & {
  /** Undefined if unknown. */
  readonly agrees: boolean | undefined
}

/** Width of the pipe drawn between two amounts, in columns. */
const PIPE_COLUMNS = 8
const LABEL_COLUMNS = 9
const BAR_COLUMNS = 12
const BAR_COLUMNS_LEAST = 4
const TALL_COLUMNS = 96

/** `$1,284.30`, never rounded or cut. */
export function shownMoney(amount: string): string {
  const [whole = '0', rest] = amount.replace('-', '').split('.')
  const sign = amount.startsWith('-') ? '-' : ''
  return `${sign}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest === undefined ? '' : `.${rest}`}`
}

export function onThePoint(amounts: readonly string[]): string[] {
  const parts = amounts.map((amount) => {
    const at = amount.indexOf('.')
    return at < 0 ? [amount, ''] : [amount.slice(0, at), amount.slice(at)]
  })
  const left = Math.max(...parts.map(([whole = '']) => whole.length))
  const right = Math.max(...parts.map(([, rest = '']) => rest.length))
  return parts.map(([whole = '', rest = '']) => `${whole.padStart(left)}${rest.padEnd(right)}`)
}

/** Today's cash flow: paid in, held, passed on. Drawn as a picture if it fits, else as one line or several. */
export function riverLines(river: RiverShown, width: number): Line[] {
  const [paid, held] = [shownMoney(river.paid_in), shownMoney(river.held)]
  const out = onThePoint([river.providers, river.fees, river.refunds].map(shownMoney))
  const columns = placesFor(width)
  const needA = Math.max(widthOf(paid), LABEL_COLUMNS + 1 + shownMoney(river.by_x402).length) + PIPE_COLUMNS
  const needB = Math.max(widthOf(held) + PIPE_COLUMNS, widthOf(shownMoney(river.at_once)) + PIPE_COLUMNS)
  const needC = widthOf(out[0] ?? '') + 2 + LABEL_COLUMNS
  const fits =
    needA <= columns.held - 1 && needB <= columns.out - columns.held - PIPE_COLUMNS && needC <= width - columns.out
  return fits ? picture(river, width) : inWords(river, width)
}

function placesFor(width: number): { held: number; out: number; fork: number; join: number } {
  const held = Math.round(width * 0.34)
  const out = Math.round(width * 0.67)
  return { held, out, fork: Math.round(held * 0.62), join: out - 8 }
}

function titles(river: RiverShown, width: number): Line {
  const { held, out } = placesFor(width)
  const sales = `${count(river.sales)} ${river.sales === 1 ? 'sale' : 'sales'}`
  const jobs = `${count(river.held_jobs)} ${river.held_jobs === 1 ? 'job' : 'jobs'}`
  return placed(width, [
    [1, [dim('PAID IN'), `   ${sales}`]],
    [held, [dim(width >= TALL_COLUMNS ? 'HELD IN ESCROW' : 'IN ESCROW'), `  ${jobs}`]],
    [out, [dim('PASSED ON')]],
  ])
}

function picture(river: RiverShown, width: number): Line[] {
  const { held, out, fork, join } = placesFor(width)
  const [paid, kept] = [shownMoney(river.paid_in), shownMoney(river.held)]
  const amounts = onThePoint([river.providers, river.fees, river.refunds].map(shownMoney))
  const shares = [river.providers, river.fees, river.refunds].map(Number)
  const most = shares.reduce((sum, share) => sum + share, 0)
  const isWide = width >= TALL_COLUMNS
  const wordy = widthOf(amounts[0] ?? '') + 2 + LABEL_COLUMNS + 1
  const bars = Math.min(BAR_COLUMNS, width - out - wordy - 1)
  const branch = (i: number, name: string): Line => [
    strong(amounts[i] ?? ''),
    `  ${name.padEnd(LABEL_COLUMNS)} `,
    isWide && most > 0 && bars >= BAR_COLUMNS_LEAST ? accent(bar((shares[i] ?? 0) / most, bars)) : '',
  ]
  const late = Number(river.overdue)
  const disputed = Number(river.disputed)
  const level = { late, disputed, good: Math.max(0, Number(river.held) - late - disputed) }
  const tankColumns = join - held - 2
  const once = shownMoney(river.at_once)
  const under = underPipe({ from: fork, to: join, words: `${once} at once` })
  return [
    titles(river, width),
    placed(width, [
      [1, [strong(paid)]],
      [2 + widthOf(paid), [pipe({ from: 2 + widthOf(paid), to: held - 2, joint: fork, sign: '┳' }), accent('▸')]],
      [held, [strong(kept)]],
      [
        held + 1 + widthOf(kept),
        [pipe({ from: held + 1 + widthOf(kept), to: out - 2, joint: join, sign: '┳' }), accent('▸')],
      ],
      [out, branch(0, 'providers')],
    ]),
    placed(width, [
      ...(isWide ? [[1, methodLine('x402', river.by_x402)] as const] : []),
      [fork, [accent('┃')]],
      [held, tank(level, tankColumns)],
      [join, [pipe({ from: join, to: out - 2, joint: join, sign: '┣' }), accent('▸')]],
      [out, branch(1, 'fees')],
    ]),
    placed(width, [
      ...(isWide ? [[1, methodLine('balance', river.by_balance)] as const] : []),
      isWide ? [fork, [accent('┃')]] : [fork, under],
      ...(isWide ? [[held, troubleLine(river, tankColumns)] as const] : []),
      [join, [pipe({ from: join, to: out - 2, joint: join, sign: isWide ? '┣' : '┻' }), accent('▸')]],
      [out, branch(2, 'refunds')],
    ]),
    ...(isWide
      ? [
          placed(width, [
            [fork, under],
            [join, [accent('┛')]],
            [out, auditLine(river)],
          ]),
        ]
      : []),
  ]
}

type Pipe = { readonly from: number; readonly to: number; readonly joint: number; readonly sign: string }

function pipe({ from, to, joint, sign }: Pipe): Piece {
  return accent([...'━'.repeat(Math.max(0, to - from))].map((part, i) => (from + i === joint ? sign : part)).join(''))
}

function methodLine(name: string, amount: string): Line {
  return [dim(name.padEnd(LABEL_COLUMNS)), ' ', shownMoney(amount)]
}

/** Late and disputed money. Drops the word `disputed` if there is little room. */
function troubleLine({ overdue, disputed }: RiverShown, room: number): Line {
  const line = (word: string): Line => [
    ...(Number(overdue) > 0 ? [warn(`! ${shownMoney(overdue)} late `)] : []),
    ...(Number(disputed) > 0 ? [bad(`? ${shownMoney(disputed)}${word}`)] : []),
  ]
  const whole = line(' disputed')
  return lineWidth(whole) <= room ? whole : line('')
}

/** The pipe below escrow, with the money that skips escrow. */
function underPipe({ from, to, words }: { from: number; to: number; words: string }): Line {
  const room = to - from - words.length - 3
  const left = Math.max(0, Math.floor(room / 2))
  return [accent(`┗${'━'.repeat(left)} `), words, accent(` ${'━'.repeat(Math.max(0, room - left))}`)]
}

/** Whether the running sums match the accounts, in words. */
export function auditLine({ agrees }: Pick<RiverShown, 'agrees'>): Line {
  if (agrees === undefined) return []
  return agrees ? [good('✓ books agree to the cent')] : [bad('✗ books do not agree: press a')]
}

/** Micro-USDC of an amount that may be negative. */
export function microsOf(amount: string): bigint {
  return amount.startsWith('-') ? -amountOf(amount.slice(1)) : amountOf(amount)
}

const money = (amount: string, words: string): Line => [strong(shownMoney(amount)), ` ${words}`]

/** The sums in one line. Undefined if it is too wide. */
export function shortRiver(river: RiverShown, width: number): Line | undefined {
  const passedOn = [river.providers, river.fees, river.refunds].reduce((sum, one) => sum + microsOf(one), 0n)
  const next = accent('  ▸  ')
  const ends = money(formatAmount(passedOn), 'passed on')
  const line: Line = [' ', ...money(river.paid_in, 'in'), next, ...money(river.held, 'held'), next, ...ends]
  return lineWidth(line) <= width ? sized(line, width) : undefined
}

function inWords(river: RiverShown, width: number): Line[] {
  const parts: Line[] = [
    money(river.paid_in, 'in'),
    money(river.held, 'held'),
    money(river.providers, 'providers'),
    money(river.fees, 'fees'),
    money(river.refunds, 'refunds'),
  ]
  const rows: Line[] = []
  for (const part of parts) {
    const last = rows.at(-1)
    const longer: Line | undefined = last && [...last, accent('  ▸  '), ...part]
    if (longer !== undefined && lineWidth(longer) <= width) rows[rows.length - 1] = longer
    else rows.push([' ', ...part])
  }
  return rows.map((row) => sized(row, width))
}
