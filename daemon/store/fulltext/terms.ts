/** Maximum number of terms per query; more are ignored. */
export const MAX_TERMS = 8
/** Maximum characters per term; documents and queries are shortened alike. */
export const MAX_TERM_CHARS = 40
/** Maximum number of characters of a query that are read. */
const MAX_SEARCH_CHARS = 1_000
/** A shorter last term is not treated as a prefix, since it would match nearly everything. */
const MIN_PREFIX_CHARS = 2

/** Common words; used only if a query has no others. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be by for from how i in is it my of on or our that the their this to was we what which with you your'.split(
    ' ',
  ),
)

/** A term: a pictograph, a character of a script without spaces, or a run of letters and digits. */
const TERM =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{Extended_Pictographic}]|(?:(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}])[\p{L}\p{N}]\p{M}*)+/gu
/** Combining marks of Latin, Greek and Cyrillic; others are significant. */
const ACCENTS = /[\u0300-\u036f]+/g
const NOT_ASCII = /[^\0-\x7f]/

/** Normalises case, accents and compatibility forms: `Café` becomes `cafe`. */
function fold(text: string): string {
  const lower = text.toLowerCase()
  if (!NOT_ASCII.test(text)) return lower
  return lower.normalize('NFKD').toLowerCase().replace(ACCENTS, '').normalize('NFKC')
}

/** Normalised terms in order. They contain nothing that FTS5 interprets. */
export function termsOf(text: string): string[] {
  return (fold(text).match(TERM) ?? []).map((term) => term.slice(0, MAX_TERM_CHARS))
}

/** Query terms without stop words and repeats, at most `MAX_TERMS`. */
export function searchTerms(q: string): string[] {
  const all = [...new Set(termsOf(q.slice(0, MAX_SEARCH_CHARS)))]
  const telling = all.filter((term) => !STOP_WORDS.has(term))
  return (telling.length > 0 ? telling : all).slice(0, MAX_TERMS)
}

/** FTS5 expression for all terms, each quoted, the last one as a prefix. */
export function allOf(terms: readonly string[]): string {
  const last = terms.at(-1) ?? ''
  return terms.map((term) => `"${term}"`).join(' AND ') + (last.length < MIN_PREFIX_CHARS ? '' : ' *')
}
