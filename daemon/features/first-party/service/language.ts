import { defineStep } from './step.ts'

/** What a longer text begins with tells its language. */
const LOOKED_AT_CHARS = 2_000
/** Guesses below this are of texts that fit many languages, or none. */
const MIN_ACCURACY = 0.1

/** Those that people write markets in: rarer ones are taken for their neighbours too often. */
const languages =
  'ar bg ca cs da de el en es et eu fa fi fr gl he hi hr hu id is it ja ko lt lv mk ms nl no pl pt ro ru sk sl sr sv th tr uk vi zh'.split(
    ' ',
  )

/** ISO 639-1, and how far that is sure, from 0 to 1. */
export type Language = { readonly language: string; readonly confidence: number }

/**
 * The language that a text is in; undefined where it is too short or fits none. The tables behind it are loaded when it
 * is first asked, which holds up the thread for a tenth of a second.
 */
export const languageOf = defineStep('language', async (text: string): Promise<Language | undefined> => {
  const { detectAll } = await import('tinyld')
  const [best] = detectAll(text.slice(0, LOOKED_AT_CHARS), { only: languages })
  if (!best || best.accuracy < MIN_ACCURACY) return undefined
  return { language: best.lang, confidence: Math.round(best.accuracy * 100) / 100 }
})
