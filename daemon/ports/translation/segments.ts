/** Longest text that is sent in one piece. */
const MAX_SEGMENT_CHARS = 4_000

/** Pieces of a text that together are the text again: what is translated, and the space between. */
export type Segment = { readonly text: string; readonly isSpace: boolean }

/** Cuts at paragraphs, then at sentences, then at words: never within one. */
export function segmentsOf(text: string): Segment[] {
  return text.split(/((?:[ \t]*\r?\n){2,}[ \t]*)/).flatMap((piece, at) => {
    if (piece === '') return []
    if (at % 2 === 1 || piece.trim() === '') return [{ text: piece, isSpace: true }]
    return piecesOf(piece).map((text) => ({ text, isSpace: text.trim() === '' }))
  })
}

function piecesOf(paragraph: string): string[] {
  const pieces: string[] = []
  let rest = paragraph
  while (rest.length > MAX_SEGMENT_CHARS) {
    const window = rest.slice(0, MAX_SEGMENT_CHARS)
    const end = endOf(window, /[.!?…。！？][)"'”’]?\s/gu) ?? endOf(window, /\s/gu) ?? MAX_SEGMENT_CHARS
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  if (rest !== '') pieces.push(rest)
  return pieces
}

/** Behind the last place that fits, if it is not too near the beginning. */
function endOf(window: string, mark: RegExp): number | undefined {
  const last = [...window.matchAll(mark)].at(-1)
  const end = last === undefined ? 0 : last.index + last[0].length
  return end > MAX_SEGMENT_CHARS / 4 ? end : undefined
}

/** Space at both ends of a piece, which engines lose. */
export function around(text: string): { before: string; inner: string; after: string } {
  const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? []
  return { before, inner, after }
}
