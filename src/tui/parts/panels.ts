import { blank, hair, type Line, sized } from './line.ts'

/** From this width there is a side panel. */
const SPLIT_FROM = 120
const SIDE_COLUMNS = 59
const SIDE_SHARE = 0.4

/** Width of the side panel. 0 if there is no room for one. */
export function sideOf(width: number): number {
  return width < SPLIT_FROM ? 0 : Math.min(SIDE_COLUMNS, Math.floor(width * SIDE_SHARE))
}

export type Panels = { readonly width: number; readonly split: number; readonly height: number }

type Joined = { readonly other: Line; readonly joint: string; readonly at: string; readonly line: Line }
/** Cache of joined rows, by left row. A joined row stays the same object while both halves stay the same objects. */
const joined = new WeakMap<Line, Joined>()

/** Draws two panels side by side and joins their title lines. */
export function joinedPanels(left: readonly Line[], right: readonly Line[], { width, split, height }: Panels): Line[] {
  const at = `${split}/${width}`
  return Array.from({ length: height }, (_, row): Line => {
    const [one = blank, other = blank] = [left[row], right[row]]
    const joint = jointOf([isRule(one), isRule(other)], row)
    const known = joined.get(one)
    if (known?.other === other && known.joint === joint && known.at === at) return known.line
    const line = [...sized(one, split), hair(joint), ...sized(other, width - split - 1)]
    joined.set(one, { other, joint, at, line })
    return line
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
