/** Numbers, quotes, addresses and paths: parts of a text that a reader takes for facts. */
const FACTS =
  /https?:\/\/[^\s"'<>)\]]+|"[^"\n]{3,300}"|“[^”\n]{3,300}”|(?<![\w.])\/[\w{}.-]+(?:\/[\w{}.-]+)*|\d+(?:[.,:]\d+)*/g

/** Normalises quotes, spaces and case of a source text, for `isSaid`. */
export function plainly(text: string): string {
  return text.replace(/[“”]/g, '"').replace(/[‘’]/g, "'").replace(/\s+/g, ' ').toLowerCase()
}

/** Whether a source text, normalised by `plainly`, contains the text. */
export function isSaid(text: string, source: string): boolean {
  const wanted = plainly(text).trim()
  if (wanted === '') return false
  if (!/^\d+(?:[.,:]\d+)*$/.test(wanted)) return source.includes(wanted)
  return new RegExp(`(?<![\\d.,])${wanted.replaceAll('.', '\\.')}(?![\\d]|[.,]\\d)`).test(source)
}

/** Whether a normalised source text contains each number, quote, address and path of a text. */
export function isGrounded(text: string, source: string): boolean {
  return (text.match(FACTS) ?? []).every((fact) => isSaid(fact.replace(/^["“]|["”.]$/g, ''), source))
}
