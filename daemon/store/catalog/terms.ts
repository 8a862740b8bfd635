/** Search terms of a query, at most; further ones are ignored. */
export const MAX_TERMS = 8
/** Longest term kept, in characters; documents and queries are cut alike, so a cut term still matches. */
export const MAX_TERM_CHARS = 40
/** Query text looked at, in characters. */
const MAX_SEARCH_CHARS = 1_000

/** Words too common to say anything; they count only where a query holds nothing else. */
const STOP_WORDS = new Set(
  'a an and are as at be by for from how i in is it my of on or our that the their this to was we what which with you your'.split(
    ' ',
  ),
)

/**
 * One term: a character of a script written without spaces or a pictograph (there is no word border to find),
 * or else a run of letters and digits.
 */
const TERM =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{Extended_Pictographic}]|(?:(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}])[\p{L}\p{N}])+/gu
const MARKS = /\p{M}+/gu

/** Case, accents and compatibility forms do not count: `Café` is `cafe`, `ﬁ` is `fi`. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '').toLowerCase().normalize('NFKC')
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
