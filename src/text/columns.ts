const AMOUNT = /^\$?(\d{1,12})(?:\.(\d{1,6}))?$/
const DECIMALS = 6
const MICRO = 1_000_000n

/** `$0.525` or `0.525` in micro-USDC; undefined if invalid. */
export function microOf(amount: string): bigint | undefined {
  const [, whole, part = ''] = AMOUNT.exec(amount) ?? []
  return whole === undefined ? undefined : BigInt(whole) * MICRO + BigInt(part.padEnd(DECIMALS, '0'))
}

/** Micro-USDC as `$0.525`, with 2 to 6 decimals. */
export function dollars(micro: bigint): string {
  const part = (micro % MICRO).toString().padStart(DECIMALS, '0')
  return `$${micro / MICRO}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`
}

/** How much width a table column needs. */
export type ColumnNeed = {
  /** Widest cell. */
  readonly natural: number
  /** Smallest useful width. Equals `natural` if the column must not be cut. */
  readonly least: number
  /** Columns with the highest number are dropped first (default: never dropped). */
  readonly drop?: number | undefined
}

/**
 * Fits columns into `room`. Drops columns until the minimums fit, then shrinks the widest. Exceeds `room` if the
 * columns that may not be dropped need more.
 * @param gap - columns between two table columns
 * @returns widths, undefined for dropped columns
 */
export function fitColumns(needs: readonly ColumnNeed[], room: number, gap: number): readonly (number | undefined)[] {
  const shown = needs.map(() => true)
  const kept = () => needs.flatMap((need, i) => (shown[i] ? [{ ...need, i }] : []))
  while (kept().reduce((sum, { least }) => sum + least + gap, -gap) > room) {
    const [first] = kept()
      .filter(({ drop = 0 }) => drop > 0)
      .toSorted((a, b) => (b.drop ?? 0) - (a.drop ?? 0) || b.i - a.i)
    if (first === undefined) break
    shown[first.i] = false
  }
  // No column starts wider than `room`, so that very long texts need few steps.
  const widths = needs.map(({ natural, least }, i) => (shown[i] ? Math.min(natural, Math.max(least, room)) : undefined))
  const taken = widths.reduce<number>((sum, width) => (width === undefined ? sum : sum + width + gap), -gap)
  for (let left = taken - room; left > 0; left -= 1) {
    const [widest] = kept()
      .map(({ i, least }) => ({ i, least, width: widths[i] ?? 0 }))
      .filter(({ least, width }) => width > least)
      .toSorted((a, b) => b.width - a.width || a.i - b.i)
    if (widest === undefined) break
    widths[widest.i] = widest.width - 1
  }
  return widths
}

/** A quoted CSV cell. If a spreadsheet would run the cell as a formula, an apostrophe is put before it. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
