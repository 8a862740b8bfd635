import { blank, type Line, sized, toned } from './line.ts'

/** From this width on a list has what is chosen beside it. */
const SPLIT_FROM = 120
const SIDE_COLUMNS = 59
const SIDE_SHARE = 0.4

/** Columns of what stands beside a list; none where it has to stand below. */
export function sideOf(width: number): number {
  return width < SPLIT_FROM ? 0 : Math.min(SIDE_COLUMNS, Math.floor(width * SIDE_SHARE))
}

export type Panels = { readonly width: number; readonly split: number; readonly height: number }

/** Panels side by side; where titles meet the line between them, they are joined. */
export function joinedPanels(left: readonly Line[], right: readonly Line[], { width, split, height }: Panels): Line[] {
  return Array.from({ length: height }, (_, row): Line => {
    const [one = blank, other = blank] = [left[row], right[row]]
    const joint = toned('hair')(jointOf([isRule(one), isRule(other)], row))
    return [...sized(one, split), joint, ...sized(other, width - split - 1)]
  })
}

function jointOf([left, right]: readonly [boolean, boolean], row: number): string {
  if (left && right) return row === 0 ? '┬' : '┼'
  if (left) return '┤'
  return right ? '├' : '│'
}

function isRule([first = '']: Line): boolean {
  return (typeof first === 'string' ? first : first.text).startsWith('─')
}
