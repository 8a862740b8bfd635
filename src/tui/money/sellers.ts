import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { SOLD_DAYS } from '../../core/limits.ts'
import { amountOf } from '../../core/money.ts'
import { clip, padEnd, padStart, shortAddress, widthOf } from '../../text/text.ts'
import { bar } from '../parts/charts.ts'
import { accent, dim, type Line, type Piece, placed, strong } from '../parts/line.ts'
import { onThePoint, shownMoney } from '../parts/river.ts'
import { ask } from '../shell/queries.ts'
import { text } from '../shell/read.ts'

/** Sellers that are shown. */
export const TOP_SELLERS = 3

/** What one sold lately, what ever arrived at its wallet, and what it is owed now, decimal USDC. */
export type TopSeller = { readonly name: string; readonly sold: string; readonly paid: string; readonly due: string }

/** Who sold most lately; whoever sold nothing is not among them. */
export const fetchTopSellers = (link: Link) => (signal: AbortSignal) => {
  const query = { filter: 'sold:>0', sort: '-sold', limit: String(TOP_SELLERS) } as const
  return ask(link, { name: 'listPayees', asked: { query, signal } }, ({ payees }) => payees.map(readSeller))
}

function readSeller({ name, wallet, sold, paid, due }: WireAnswer<Api['listPayees']>['payees'][number]): TopSeller {
  return { name: text(name) || shortAddress(wallet), sold, paid, due }
}

const NAME_COLUMNS = 16
const BAR_COLUMNS = 8

const titles = { sold: 'sold', paid: 'paid ever', due: 'due' } as const
type Sum = keyof typeof titles

/** What was paid ever is left out where the amounts have no room for it. */
function columnsIn(sellers: readonly TopSeller[], width: number) {
  const place = (shown: readonly Sum[]) => {
    const widths = shown.map((of) => {
      const cells = onThePoint(sellers.map((seller) => shownMoney(seller[of])))
      return Math.max(widthOf(titles[of]), ...cells.map(widthOf))
    })
    const ends = widths.map((_, i) => width - 2 - widths.slice(i + 1).reduce((sum, one) => sum + one + 2, 0))
    return { shown, widths, ends }
  }
  const all = place(['sold', 'paid', 'due'])
  const first = (all.ends[0] ?? 0) - (all.widths[0] ?? 0)
  return first > NAME_COLUMNS + 2 + BAR_COLUMNS ? all : place(['sold', 'due'])
}

/** A row for each, with the most that anybody sold as the whole bar. */
export function sellerLines(sellers: readonly TopSeller[], width: number): Line[] {
  const most = sellers.reduce((greatest, { sold }) => Math.max(greatest, Number(amountOf(sold))), 0)
  const { shown, widths, ends } = columnsIn(sellers, width)
  const columns = shown.map((of) => onThePoint(sellers.map((seller) => shownMoney(seller[of]))))
  const told = (row: readonly string[], tone: (words: string) => Piece) =>
    ends.map((end, i) => [end - (widths[i] ?? 0), [tone(padStart(row[i] ?? '', widths[i] ?? 0))]] as const)
  const title = `top sellers, ${SOLD_DAYS} days`
  const head = placed(width, [
    [1, [dim(title)]],
    ...told(
      shown.map((of) => titles[of]),
      dim,
    ),
  ])
  const lines = sellers.map(({ name, sold }, row) =>
    placed(width, [
      [1, [padEnd(clip(name, NAME_COLUMNS), NAME_COLUMNS)]],
      [NAME_COLUMNS + 2, [accent(bar(most === 0 ? 0 : Number(amountOf(sold)) / most, BAR_COLUMNS))]],
      ...told(
        columns.map((cells) => cells[row] ?? ''),
        strong,
      ),
    ]),
  )
  return [head, ...(lines.length === 0 ? [[dim(' nobody has sold anything lately')]] : lines)]
}
