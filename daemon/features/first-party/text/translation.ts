import type { Json } from '../../../../src/core/json.ts'
import { segmentsOf } from '../../../ports/translation/segments.ts'
import type { Translated } from '../../../ports/translation/translator.ts'
import { languageOf } from '../service/language.ts'
import { defineService, type JsonInput, textOf, wrongField } from '../service/service.ts'
import { defineStep } from '../service/step.ts'
import { fromUpstream } from '../service/upstream.ts'

const CODE = /^[a-z]{2,3}(-[a-z]{2,4})?$/

type Source = Translated & { readonly detected: boolean; readonly confidence?: number }

const segmentsIn = defineStep('translation.segments', segmentsOf)

/** Translates with the configured engine or, without one, with the local engine, which only gives the gist. */
export const translation = defineService({
  slug: 'translation',
  needs: ['translator'],
  isQuick: () => true, // the translator has done the work
  check(input, { engines }) {
    if (textOf(input, 'text').trim() === '') throw wrongField('text', 'contains no text to translate')
    const [to, from] = [codeOf(input, 'target_lang'), codeOf(input, 'source_lang')]
    if (to === undefined) throw wrongField('target_lang', 'is missing')
    const targets = engines.translator.targets()
    if (targets && !targets.includes(to)) throw wrongField('target_lang', `must be one of ${targets.join(', ')}`)
    const isKnown = from === undefined || from === to || engines.translator.knows(from, to) !== false
    if (!isKnown) throw wrongField('source_lang', `cannot be translated to ${to}`)
  },
  async read(input, { engines, elsewhere, signal }): Promise<Source> {
    const text = textOf(input, 'text')
    const to = codeOf(input, 'target_lang') ?? ''
    const given = codeOf(input, 'source_lang')
    const guess = given === undefined ? await elsewhere(languageOf, text) : undefined
    const from = given ?? guess?.language
    const known = { detected: given === undefined, ...(guess ? { confidence: guess.confidence } : {}) }
    if (from === to) {
      const engine = { name: 'souk', version: '1', kind: 'deterministic' } as const
      return { translation: text, from, segments: 0, quality: 'full', engine, ...known }
    }
    if (from === undefined && engines.translator.targets()) {
      throw wrongField('source_lang', 'required: the language of the text could not be detected')
    }
    if (given === undefined && from !== undefined && engines.translator.knows(from, to) === false) {
      throw wrongField('source_lang', `required: the text was detected as ${from}, which cannot be translated to ${to}`)
    }
    const segments = await elsewhere(segmentsIn, text)
    return {
      ...(await fromUpstream(engines.translator.translate({ segments, from, to }, signal), 'target_lang')),
      ...known,
    }
  },
  make: (input, made): Json => ({
    translation: made.translation,
    source_lang: made.from ?? 'unknown',
    source_detected: made.detected,
    ...(made.confidence === undefined ? {} : { confidence: made.confidence }),
    target_lang: codeOf(input, 'target_lang') ?? '',
    characters: textOf(input, 'text').length,
    segments: made.segments,
    quality: made.quality,
    engine: { ...made.engine, ...(made.fallbackFrom === undefined ? {} : { fallback_from: made.fallbackFrom }) },
  }),
})

/** Language code in a field; undefined to detect the language. @throws AppError input_invalid for an invalid code */
function codeOf(input: JsonInput, field: 'target_lang' | 'source_lang'): string | undefined {
  const code = textOf(input, field).trim().toLowerCase().replace('_', '-')
  if (code === '' || (field === 'source_lang' && code === 'auto')) return undefined
  if (!CODE.test(code)) throw wrongField(field, 'must be a language code, such as de')
  return code
}
