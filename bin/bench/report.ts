/** What a figure has to keep (design, budgets). */
export type Budget = { readonly atMost: number } | { readonly atLeast: number }

/** One line of the report: a figure of each round, in the order in which they were measured. */
export type Measured = {
  readonly name: string
  readonly values: readonly number[]
  readonly budget: Budget
  /** What the values are, `×` for a ratio unless said. */
  readonly unit?: string
  /** The figures behind a ratio. */
  readonly detail?: string
}

/** Of sorted values, the one below which this share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1)
  return (low + high) / 2
}

/** `a[i] / b[i]`: each round is compared with its own neighbour, so that a busy moment hits both. */
export function ratios(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, round) => value / (b[round] ?? Number.NaN))
}

/** Three significant digits, without an exponent. */
export function figure(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 3, useGrouping: false })
}

export const rounded = (value: number): number => Number(value.toFixed(2))

/** Milliseconds. */
export async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await act()
  return performance.now() - started
}

/** Where a long measurement says how far it is. */
export type Say = (progress: string) => void

const COLUMNS = [-74, 11, 17, 9] as const

export const heading = row(['  what', 'median', 'min..max', 'budget'])

export function line({ name, values, budget, unit = '×', detail }: Measured): string {
  const middle = median(values)
  const range = values.length > 1 ? `${figure(Math.min(...values))}..${figure(Math.max(...values))}` : ''
  const [wanted, isKept] =
    'atMost' in budget
      ? [`<= ${budget.atMost}`, middle <= budget.atMost]
      : [`>= ${budget.atLeast}`, middle >= budget.atLeast]
  const shown = row([`  ${name}`, `${figure(middle)} ${unit}`, range, wanted])
  return `${shown}  ${isKept ? 'ok' : 'MISSED'}${detail === undefined ? '' : `\n    ${detail}`}`
}

function row(cells: readonly string[]): string {
  return COLUMNS.map((width, at) => {
    const cell = cells[at] ?? ''
    return width < 0 ? cell.padEnd(-width) : cell.padStart(width)
  }).join('')
}
