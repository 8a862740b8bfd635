/** Longest text that is sent in one piece. */
const MAX_SEGMENT_CHARS = 4_000

/** Pieces of a text that together are the text again: what is translated, and the space between. */
export type Segment = { readonly text: string; readonly isSpace: boolean }

/** Cuts at paragraphs, then at sentences, then at words: never within one. */
export function segmentsOf(text: string): Segment[] {
  const runs: { text: string; isSpace: boolean }[] = []
  for (const line of text.split(/(?<=\n)/)) {
    const isSpace = line.trim() === ''
    const last = runs.at(-1)
    if (last?.isSpace === isSpace) last.text += line
    else runs.push({ text: line, isSpace })
  }
  return runs.flatMap((run) =>
    run.isSpace ? run : piecesOf(run.text).map((text) => ({ text, isSpace: text.trim() === '' })),
  )
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
  const inner = text.trim()
  const start = text.length - text.trimStart().length
  return { before: text.slice(0, start), inner, after: text.slice(start + inner.length) }
}
