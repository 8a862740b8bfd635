import { englishShare, wordsOf } from '../service/english.ts'
import { languageOf } from '../service/language.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'
import { judge } from './sentiment.ts'

/** Share of English function words from which a text counts as English. */
const ENGLISH_SHARE = 0.12
/** Fewer words do not reveal a language. */
const MIN_WORDS = 3
const SURE = 0.3
/** A text of this many words with too few English function words is not English. */
const ENOUGH_WORDS = 8

/** Sentiment of an English text, by word lists and rules. */
export const sentimentAnalysis = defineService({
  slug: 'sentiment_analysis',
  async make(input) {
    const text = textOf(input, 'text')
    if (text.trim() === '') throw wrongField('text', 'contains no text')
    const foreign = await foreignLanguageOf(text)
    if (foreign !== undefined) {
      const message = `unsupported_language: the text looks like "${foreign}"; only English is supported`
      throw wrongField('text', message)
    }
    return { ...judge(text), language: 'en' }
  },
})

/** The language of a non-English text; undefined if English or too short. */
async function foreignLanguageOf(text: string): Promise<string | undefined> {
  const words = wordsOf(text)
  if (englishShare(words) >= ENGLISH_SHARE) return undefined
  const found = await languageOf.run(text)
  if (!found || found.language === 'en') return undefined
  const isLatin = /\p{Script=Latin}/u.test(text)
  const isLong = words.length >= (found.confidence >= SURE ? MIN_WORDS : ENOUGH_WORDS)
  return !isLatin || isLong ? found.language : undefined
}
