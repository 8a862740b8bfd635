import { defineService, textOf, wrongField } from '../service/service.ts'
import { judge } from './sentiment.ts'

/** A few hundred words. */
const QUICK_CHARS = 1_000

/** Sentiment of an English text by word lists and rules: see `judge` for what it can and cannot hear. */
export const sentimentAnalysis = defineService({
  slug: 'sentiment_analysis',
  isQuick: (input) => textOf(input, 'text').length <= QUICK_CHARS,
  make(input) {
    const text = textOf(input, 'text')
    if (text.trim() === '') throw wrongField('text', 'holds nothing to judge')
    return { ...judge(text) }
  },
})
