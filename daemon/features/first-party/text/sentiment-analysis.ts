import { englishShare, wordsOf } from '../service/english.ts'
import { languageOf } from '../service/language.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'
import { judge } from './sentiment.ts'

/** Minimum share of English function words in an English text. */
const ENGLISH_SHARE = 0.12
/** A text with fewer words does not reveal its language. */
const MIN_WORDS = 3
const SURE = 0.3
/** A text with this many words, but too few English function words, is not English. */
const ENOUGH_WORDS = 8

/** Sentiment of an English text, by word lists and rules. */
export const sentimentAnalysis = defineService({
  slug: 'sentiment_analysis',
  async make(input) {
    const text = textOf(input, 'text')
    if (text.trim() === '') throw wrongField('text', 'contains no text')
    const foreign = await foreignLanguageOf(text)
    if (foreign !== undefined) {
      const message = `unsupported_language: the text seems to be in "${foreign}"; only English is supported`
      throw wrongField('text', message)
    }
    return { ...judge(text), language: 'en' }
  },
})

/** Language of a text that is not English; undefined if the text is English or too short. */
async function foreignLanguageOf(text: string): Promise<string | undefined> {
  const words = wordsOf(text)
  if (englishShare(words) >= ENGLISH_SHARE) return undefined
  const found = await languageOf.run(text)
  if (!found || found.language === 'en') return undefined
  const isLatin = /\p{Script=Latin}/u.test(text)
  const isLong = words.length >= (found.confidence >= SURE ? MIN_WORDS : ENOUGH_WORDS)
  return !isLatin || isLong ? found.language : undefined
}
