/** A rectangle in parts of a cell: from the left, from the top, width and height. */
export type Box = readonly [x: number, y: number, width: number, height: number]

/** Half the thickness of a hairline and of a heavy line, as a part of the cell's width and height. */
const LIGHT = { x: 1 / 16, y: 1 / 36 } as const
const HEAVY = { x: 1 / 8, y: 1 / 18 } as const
const EIGHTHS = 8

type Arms = { readonly left?: 1; readonly right?: 1; readonly up?: 1; readonly down?: 1 }

const left = { left: 1 } as const
const right = { right: 1 } as const
const up = { up: 1 } as const
const down = { down: 1 } as const

/** Where the arms of a line go; rounded corners are drawn square. */
const lines: Readonly<Record<string, Arms>> = {
  '─': { ...left, ...right },
  '│': { ...up, ...down },
  '┬': { ...left, ...right, ...down },
  '┴': { ...left, ...right, ...up },
  '├': { ...right, ...up, ...down },
  '┤': { ...left, ...up, ...down },
  '┼': { ...left, ...right, ...up, ...down },
  '╭': { ...right, ...down },
  '╮': { ...left, ...down },
  '╰': { ...right, ...up },
  '╯': { ...left, ...up },
  '┌': { ...right, ...down },
  '┐': { ...left, ...down },
  '└': { ...right, ...up },
  '┘': { ...left, ...up },
}
const heavyLines: Readonly<Record<string, Arms>> = {
  '━': { ...left, ...right },
  '╸': left,
  '╺': right,
  '┃': { ...up, ...down },
  '┳': { ...left, ...right, ...down },
  '┻': { ...left, ...right, ...up },
  '┣': { ...right, ...up, ...down },
  '┫': { ...left, ...up, ...down },
  '┏': { ...right, ...down },
  '┓': { ...left, ...down },
  '┗': { ...right, ...up },
  '┛': { ...left, ...up },
}

/** Blocks that grow from the foot, by eighths: `▁` to `█`. */
const FIRST_BLOCK = 0x2581
/** Blocks that grow from the left: seven eighths down to one, `▉` to `▏`. */
const FIRST_SIDE = 0x2589

/** What a character of lines and blocks looks like. @throws Error for one that nobody has drawn */
export function shapeOf(char: string): readonly Box[] {
  const light = lines[char]
  if (light) return armsOf(light, LIGHT)
  const heavy = heavyLines[char]
  if (heavy) return armsOf(heavy, HEAVY)
  const code = char.codePointAt(0) ?? 0
  const foot = code - FIRST_BLOCK + 1
  if (foot >= 1 && foot <= EIGHTHS) return [[0, 1 - foot / EIGHTHS, 1, foot / EIGHTHS]]
  const side = EIGHTHS - 1 - (code - FIRST_SIDE)
  if (side >= 1 && side < EIGHTHS) return [[0, 0, side / EIGHTHS, 1]]
  throw new Error(`${char} has no shape`)
}

/** One piece across, one piece down: what touches is one line. */
function armsOf(arms: Arms, half: { readonly x: number; readonly y: number }): Box[] {
  const middle = 1 / 2
  const boxes: Box[] = []
  if (arms.left || arms.right) {
    const from = arms.left ? 0 : middle - half.x
    boxes.push([from, middle - half.y, (arms.right ? 1 : middle + half.x) - from, 2 * half.y])
  }
  if (arms.up || arms.down) {
    const from = arms.up ? 0 : middle - half.y
    boxes.push([middle - half.x, from, 2 * half.x, (arms.down ? 1 : middle + half.y) - from])
  }
  return boxes
}
