import { dim, type Line, type Piece, toned } from './line.ts'
import { markTones } from './palettes.ts'

const STEPS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const
/** Sparklines use seven of eight steps, so that they do not touch the row above. */
const SPARK_STEPS = 7

/**
 * Groups neighbouring values into at most `width` columns. Each value is in exactly one column, so a chart always
 * covers its whole span.
 */
export function folded<T>(values: readonly T[], width: number): readonly (readonly T[])[] {
  const columns = Math.max(0, Math.min(values.length, width))
  const from = (column: number) => Math.floor((column * values.length) / columns)
  return Array.from({ length: columns }, (_, i) => values.slice(from(i), from(i + 1)))
}

/** The mean instead of the sum, because columns can stand for different numbers of values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + Math.max(0, value), 0) / values.length
}

export const highest = (values: readonly number[]): number => Math.max(...values)

type SparkForm = {
  /** Combines the values of one column (default: `mean`). */
  readonly of?: typeof mean
  /** Values that are drawn to the same scale. */
  readonly beside?: readonly number[]
}

/** Sparkline of all values. Every value above zero is visible. */
export function spark(values: readonly number[], width: number, { of = mean, beside = [] }: SparkForm = {}): string {
  const shown = folded(values, width).map(of)
  const most = Math.max(...shown, ...folded(beside, width).map(of), 0)
  const steps = shown.map((value) => (value <= 0 || most === 0 ? ' ' : stepOf((value / most) * SPARK_STEPS)))
  return steps.join('').padStart(width, ' ')
}

function stepOf(height: number): string {
  return STEPS[Math.max(0, Math.min(STEPS.length - 1, Math.ceil(height) - 1))] ?? ' '
}

export const AXIS_COLUMNS = 6
/** Charts with fewer rows have no label at half height. */
const HALF_FROM = 4

/** A chart with an axis at the left, labelled at the maximum and at half of it. Each row has one tone. */
export function chart(values: readonly number[], { width, height }: { width: number; height: number }): Line[] {
  const shown = folded(values, Math.max(1, width - AXIS_COLUMNS)).map(mean)
  const most = Math.max(...shown, 0)
  return Array.from({ length: height }, (_, row): Line => {
    const foot = height - 1 - row
    const cells = shown.map((value) => {
      const filled = most === 0 ? 0 : (value / most) * height * STEPS.length - foot * STEPS.length
      return filled <= 0 ? ' ' : stepOf(Math.min(filled, STEPS.length))
    })
    const tone = markTones[Math.min(markTones.length - 1, Math.floor((foot * markTones.length) / height))] ?? 'accent'
    const label = most === 0 ? '' : labelAt({ row, height, most })
    const left = `${label.padStart(AXIS_COLUMNS - 2)} ${label === '' ? '│' : '┤'}`
    return [dim(left), toned(tone)(cells.join(''))]
  })
}

function labelAt({ row, height, most }: { row: number; height: number; most: number }): string {
  if (row === 0) return short(most)
  const isHalf = height >= HALF_FROM && height % 2 === 0 && row === height / 2
  return isHalf ? short(most / 2) : ''
}

/** Axis. */
export function footLine(width: number): Line {
  return [dim(`${'0'.padStart(AXIS_COLUMNS - 2)} ┴${'─'.repeat(Math.max(0, width - AXIS_COLUMNS))}`)]
}

const KILO = 1_000
const UNITS = ['', 'k', 'M', 'G', 'T', 'P'] as const
/** From this value on, a number is shown in the next larger unit. */
const NEXT_UNIT = 999.5

/** A number in at most four columns: `1.5`, `999`, `12k`. */
function short(value: number): string {
  let scaled = value
  let unit = 0
  for (; scaled >= NEXT_UNIT && unit < UNITS.length - 1; unit += 1) scaled /= KILO
  const shown = unit === 0 && scaled < 10 ? Math.round(scaled * 10) / 10 : Math.round(scaled)
  return `${Math.min(shown, KILO - 1)}${UNITS[unit] ?? ''}`
}

/** A bar for a share (0 to 1), in steps of half a column. */
export function bar(share: number, width: number): string {
  const least = share > 0 && width > 0 ? 1 : 0
  const halves = Math.max(least, Math.round(Math.min(1, Math.max(0, share)) * width * 2))
  return `${'━'.repeat(Math.floor(halves / 2))}${halves % 2 === 1 ? '╸' : ''}`.padEnd(width, ' ')
}

/** A bar with three parts, drawn at different heights. Each part above zero takes at least a column. */
export function tank(
  { good, late, disputed }: Readonly<Record<'good' | 'late' | 'disputed', number>>,
  width: number,
): Piece[] {
  const all = good + late + disputed
  if (all <= 0 || width <= 0) return [' '.repeat(Math.max(0, width))]
  const columns = (part: number) => (part <= 0 ? 0 : Math.max(1, Math.round((part / all) * width)))
  const [bad, slow] = [Math.min(columns(disputed), width), columns(late)]
  const rest = Math.max(0, width - bad)
  const lateColumns = Math.min(slow, rest)
  return [
    toned('chart3')('▆'.repeat(rest - lateColumns)),
    toned('warn')('▄'.repeat(lateColumns)),
    toned('bad')('▂'.repeat(bad)),
  ]
}
