/** Search terms of a query, at most; further ones are ignored. */
export const MAX_TERMS = 8
/** Longest term kept, in characters; documents and queries are cut alike, so a cut term still matches. */
export const MAX_TERM_CHARS = 40
/** Query text looked at, in characters. */
const MAX_SEARCH_CHARS = 1_000
/** A shorter last term is a whole word: as a beginning it would match nearly everything. */
const MIN_PREFIX_CHARS = 2

/** Words too common to say anything; they count only where a query holds nothing else. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be by for from how i in is it my of on or our that the their this to was we what which with you your'.split(
    ' ',
  ),
)

/**
 * One term: a character of a script written without spaces or a pictograph (there is no word border to find),
 * or else a run of letters and digits.
 */
const TERM =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{Extended_Pictographic}]|(?:(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}])[\p{L}\p{N}]\p{M}*)+/gu
/** The marks of Latin, Greek and Cyrillic; those of other scripts tell words apart. */
const ACCENTS = /[\u0300-\u036f]+/g
const NOT_ASCII = /[^\0-\x7f]/

/** Case, accents and compatibility forms do not count: `Café` is `cafe`, a ligature is its letters. */
function fold(text: string): string {
  const lower = text.toLowerCase()
  if (!NOT_ASCII.test(text)) return lower
  return lower.normalize('NFKD').toLowerCase().replace(ACCENTS, '').normalize('NFKC')
}

/** Terms of a text in their order, folded and cut: letters, digits and pictographs only, nothing that FTS5 reads. */
export function termsOf(text: string): string[] {
  return (fold(text).match(TERM) ?? []).map((term) => term.slice(0, MAX_TERM_CHARS))
}

/** Terms of a query: without stop words unless there is nothing else, no repeats, at most `MAX_TERMS`. */
export function searchTerms(q: string): string[] {
  const all = [...new Set(termsOf(q.slice(0, MAX_SEARCH_CHARS)))]
  const telling = all.filter((term) => !STOP_WORDS.has(term))
  return (telling.length > 0 ? telling : all).slice(0, MAX_TERMS)
}

/** The FTS5 expression "all of these terms, the last one as a beginning"; every term is quoted. */
export function allOf(terms: readonly string[]): string {
  const last = terms.at(-1) ?? ''
  return terms.map((term) => `"${term}"`).join(' AND ') + (last.length < MIN_PREFIX_CHARS ? '' : ' *')
}
