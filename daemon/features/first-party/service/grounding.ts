/** Numbers as they are written, quotes, addresses and paths: what a reader takes for a fact of the source. */
const FACTS =
  /https?:\/\/[^\s"'<>)\]]+|"[^"\n]{3,300}"|“[^”\n]{3,300}”|(?<![\w.])\/[\w{}.-]+(?:\/[\w{}.-]+)*|\d+(?:[.,:]\d+)*/g

/** Source texts as facts are looked for in them. */
export function plainly(text: string): string {
  return text.replace(/[“”]/g, '"').replace(/[‘’]/g, "'").replace(/\s+/g, ' ').toLowerCase()
}

/** Whether the source says it, word for word; `source` is what `plainly` made. */
export function isSaid(text: string, source: string): boolean {
  const wanted = plainly(text).trim()
  if (wanted === '') return false
  if (!/^\d+(?:[.,:]\d+)*$/.test(wanted)) return source.includes(wanted)
  return new RegExp(`(?<![\\d.,])${wanted.replaceAll('.', '\\.')}(?![\\d]|[.,]\\d)`).test(source)
}

/** Whether each number, quote, address and path of a text stands in its source. */
export function isGrounded(text: string, source: string): boolean {
  return (text.match(FACTS) ?? []).every((fact) => isSaid(fact.replace(/^["“]|["”.]$/g, ''), source))
}
