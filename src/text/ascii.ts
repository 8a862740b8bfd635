import { widthOf } from './text.ts'

/** Signs of this program, each behind it what stands for it where a terminal has ASCII alone: one column for one column. */
const plainSigns: Readonly<Record<string, string>> = Object.fromEntries(
  [
    '●*○o‖#×x✓+✗X–-—-↩<▪+─-│|═=║|╔+╗+╚+╝+┌+┐+└+┘+…~·.→>←<↑^↓v⟳@▲^▼v▏_▌>⏎>',
    '━=╸-┃|┳+┣+┗+┻+┛+▸>╭+╮+╰+╯+┬+┼+┴+├+┤|▁.▂-▃:▄=▅+▆#▇#█#',
  ].flatMap((signs) => [...signs].flatMap((sign, i, all) => (i % 2 === 0 ? [[sign, all[i + 1] ?? '?']] : []))),
)
/** Styles travel as noncharacters, and breaks are breaks. */
const NOT_ASCII = /[^\n\t\u0020-\u007E\uFDD0-\uFDEF]/gu

/** The same text in ASCII, as wide as it was; what is no sign of ours becomes a question mark for each column. */
export function inAscii(text: string): string {
  return text.replace(NOT_ASCII, (char) => plainSigns[char] ?? '?'.repeat(widthOf(char)))
}
