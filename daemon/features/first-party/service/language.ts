import { defineStep } from './step.ts'

/** Number of characters that language detection reads. */
const LOOKED_AT_CHARS = 2_000
/** Guesses below this accuracy are unreliable. */
const MIN_ACCURACY = 0.1

/** Common languages only, because rare ones are confused with similar common ones. */
const languages =
  'ar bg ca cs da de el en es et eu fa fi fr gl he hi hr hu id is it ja ko lt lv mk ms nl no pl pt ro ru sk sl sr sv th tr uk vi zh'.split(
    ' ',
  )

/** ISO 639-1 code with confidence from 0 to 1. */
export type Language = { readonly language: string; readonly confidence: number }

/**
 * Detects the language of a text; undefined if the text is too short or fits no language. The first call loads tables,
 * which blocks the thread for a tenth of a second.
 */
export const languageOf = defineStep('language', async (text: string): Promise<Language | undefined> => {
  const { detectAll } = await import('tinyld')
  const [best] = detectAll(text.slice(0, LOOKED_AT_CHARS), { only: languages })
  if (!best || best.accuracy < MIN_ACCURACY) return undefined
  return { language: best.lang, confidence: Math.round(best.accuracy * 100) / 100 }
})
