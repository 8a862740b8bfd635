/** What a figure has to keep (design, budgets): a ratio at most or at least, or no more than informs. */
export type Budget = { readonly atMost: number } | { readonly atLeast: number } | { readonly informs: true }

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

export type Section = { readonly name: string; readonly run: () => Promise<readonly Measured[]> }

export type SectionReport = {
  readonly section: string
  readonly seconds: number
  readonly measured: readonly Measured[]
  /** Why the section did not run. */
  readonly failure?: string
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

export function isKept({ values, budget }: Measured): boolean | undefined {
  if ('atMost' in budget) return median(values) <= budget.atMost
  if ('atLeast' in budget) return median(values) >= budget.atLeast
  return undefined
}

/** Three significant digits, without an exponent. */
export function figure(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 3, useGrouping: false })
}

const NAME_COLUMNS = 72
const VALUE_COLUMNS = 11
const RANGE_COLUMNS = 17
const BUDGET_COLUMNS = 9

export const heading = row(['what', 'median', 'min..max', 'budget', ''])

export function line(measured: Measured): string {
  const { name, values, unit = '×', detail } = measured
  const kept = isKept(measured)
  const range = values.length > 1 ? `${figure(Math.min(...values))}..${figure(Math.max(...values))}` : ''
  const cells = [name, `${figure(median(values))} ${unit}`, range, budgetText(measured.budget), verdict(kept)]
  return row(cells) + (detail === undefined ? '' : `\n    ${detail}`)
}

function row([name = '', value = '', range = '', budget = '', kept = '']: readonly string[]): string {
  const cells = [
    `  ${name.padEnd(NAME_COLUMNS)}`,
    value.padStart(VALUE_COLUMNS),
    range.padStart(RANGE_COLUMNS),
    budget.padStart(BUDGET_COLUMNS),
    `  ${kept}`,
  ]
  return cells.join('').trimEnd()
}

function budgetText(budget: Budget): string {
  if ('atMost' in budget) return `<= ${budget.atMost}`
  return 'atLeast' in budget ? `>= ${budget.atLeast}` : ''
}

function verdict(kept: boolean | undefined): string {
  if (kept === undefined) return ''
  return kept ? 'ok' : 'MISSED'
}
