/** Function words of English, most frequent first. */
export const functionWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by
  can could did do does doing down during each else even ever every few for from further get gets got had has have
  having he her here hers herself him himself his how however i if in into is it its itself just let lets like made
  make many may me might more most much must my myself no nor not now of off on once one only onto or other our ours
  ourselves out over own per rather said same say says she should since so some still such than that the their theirs
  them themselves then there these they this those though through thus to too under until up upon us use used uses
  using very via was we well were what when where whether which while who whom whose why will with within without would
  yet you your yours yourself yourselves it's i'm i've don't doesn't isn't that's there's we're they're`.split(/\s+/),
)

const words = new Intl.Segmenter('en', { granularity: 'word' })
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Abbreviations whose full stop does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|sr|jr|st|vs|etc|cf|al|fig|figs|no|nos|vol|pp|p|ch|sec|eq|approx|dept|pub|stat|seq|est|inc|ltd|co|corp|gov|gen|sen|rep|rev|hon|capt|col|lt|sgt|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|ph\.d|(?:[a-z]\.)*[a-z])\.$/i

/** Number of characters before a sentence's end that are searched for an abbreviation. */
const TAIL_CHARS = 32

/** Lower-case words of any script, with plain apostrophes. */
export function wordsOf(text: string): string[] {
  const found: string[] = []
  for (const { segment, isWordLike } of words.segment(text)) {
    if (isWordLike) found.push(segment.toLowerCase().replace(/’/g, "'"))
  }
  return found
}

export function sentencesOf(block: string): string[] {
  const found: string[] = []
  let open: string[] = []
  let tail = ''
  for (const { segment } of sentences.segment(block)) {
    open.push(segment)
    tail = `${tail}${segment}`.slice(-TAIL_CHARS)
    if (ABBREVIATION.test(tail.trimEnd())) continue
    found.push(open.join('').trim())
    open = []
    tail = ''
  }
  found.push(open.join('').trim())
  return found.filter((sentence) => sentence !== '')
}

/** Share of a text's words that are English function words: above a tenth in English, near zero otherwise. */
export function englishShare(tokens: readonly string[]): number {
  return tokens.length === 0 ? 0 : tokens.filter((word) => functionWords.has(word)).length / tokens.length
}

/** Stem of a word; only plural endings are removed. */
export function stem(word: string): string {
  if (/[^s]s$/.test(word) && word.length > 3) return word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  return word
}

/** Root of a word, roughly: `delivered`, `delivers`, `delivery` and `delivering` share one root. */
export function root(word: string): string {
  const short = stem(word)
  if (short.length < 5) return short
  return short.replace(/(?<=\w{4})(?:ation|ing|ed|er|ery|y|e|ment)$/, '').replace(/(.)\1$/, '$1')
}

/** Whether a word carries meaning on its own. Function words do not. */
export function matters(word: string): boolean {
  return !functionWords.has(word) && /\p{L}/u.test(word) && (word.length > 1 || word > '\u007f')
}
