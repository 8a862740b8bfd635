/** What a longer text begins with tells its language. */
const LOOKED_AT_CHARS = 2_000
/** Guesses below this are of texts that fit many languages, or none. */
const MIN_ACCURACY = 0.1

/**
 * The language that a text is in (ISO 639-1) and how far that is sure, from 0 to 1; undefined where it is too short or
 * fits none. The tables behind it are loaded when it is first asked.
 */
export async function languageOf(text: string): Promise<{ language: string; confidence: number } | undefined> {
  const { detectAll } = await import('tinyld/light')
  const [best] = detectAll(text.slice(0, LOOKED_AT_CHARS))
  if (!best || best.accuracy < MIN_ACCURACY) return undefined
  return { language: best.lang, confidence: Math.round(best.accuracy * 100) / 100 }
}
