import { textOf, wrongField } from './page.ts'
import { judge } from './sentiment.ts'
import { defineService } from './service.ts'

/** Sentiment of an English text by word lists and rules: see `judge` for what it can and cannot hear. */
export const sentimentAnalysis = defineService({
  slug: 'sentiment_analysis',
  run(input) {
    const text = textOf(input, 'text')
    if (text.trim() === '') throw wrongField('text', 'holds nothing to judge')
    return { ...judge(text) }
  },
})
