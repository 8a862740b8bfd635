/** Characters per request. */
const MAX_SEGMENT_CHARS = 4_000

/** A part of a text, either to translate or to keep. Joined, the parts are the text. */
export type Segment = { readonly text: string; readonly isKept: boolean }

/** Parts to keep: code, addresses, paths, files, options, tags, and placeholders such as `{name}`, `${name}`, `%s`. */
const KEPT =
  /(?<fence>```|~~~)[\s\S]*?\k<fence>|``[^\n]{1,500}?``|`[^`\n]{1,500}`|\bhttps?:\/\/[^\s<>"')\]]{1,2000}|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}|\{\{[^{}\n]{1,80}\}\}|\$?\{[^{}\n]{1,80}\}|%(?:\d\$)?[sd]\b|%\(\w{1,80}\)[sd]\b|\$[A-Z_]{2,80}\b|(?<![\w-])--[a-z][\w-]{1,80}|(?<![\w/])(?:~|\.{1,2})?(?:\/[\w.-]{0,99}\w){1,30}\/?|\b[A-Za-z]\w*(?:[_]\w+)+\b|\b[\w-]{1,80}\.(?:com|org|net|io|json|ya?ml|toml|js|ts|py|sh|md|txt|csv|html?|conf|ini|log|lock)\b|<\/?[a-zA-Z][^<>\n]{0,200}>/g

/** Splits a text around the parts to keep and at paragraphs. Splits long paragraphs at sentences, else at words. */
export function segmentsOf(text: string): Segment[] {
  return aroundKept(text).flatMap((part) => (part.isKept ? part : paragraphsOf(part.text)))
}

function paragraphsOf(text: string): Segment[] {
  const runs: { text: string; isKept: boolean }[] = []
  for (const line of text.split(/(?<=\n)/)) {
    const isKept = line.trim() === ''
    const last = runs.at(-1)
    if (last?.isKept === isKept) last.text += line
    else runs.push({ text: line, isKept })
  }
  return runs.flatMap((run) =>
    run.isKept ? run : piecesOf(run.text).map((text) => ({ text, isKept: !/\p{L}/u.test(text) })),
  )
}

function aroundKept(text: string): Segment[] {
  const parts: Segment[] = []
  let from = 0
  for (const { index, 0: kept } of text.matchAll(KEPT)) {
    parts.push({ text: text.slice(from, index), isKept: false }, { text: kept, isKept: true })
    from = index + kept.length
  }
  return [...parts, { text: text.slice(from), isKept: false }].filter((part) => part.text !== '')
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

/** End of the last match of `mark`; undefined if there is no match, or the match is near the beginning. */
function endOf(window: string, mark: RegExp): number | undefined {
  const last = [...window.matchAll(mark)].at(-1)
  const end = last === undefined ? 0 : last.index + last[0].length
  return end > MAX_SEGMENT_CHARS / 4 ? end : undefined
}

/** Separates the whitespace around a part, because engines would drop that whitespace. */
export function around(text: string): { before: string; inner: string; after: string } {
  const inner = text.trim()
  const start = text.length - text.trimStart().length
  return { before: text.slice(0, start), inner, after: text.slice(start + inner.length) }
}
