import { hash } from 'node:crypto'
import type { Json } from '../../../../src/core/json.ts'
import type { Speech } from '../../../ports/speech/speech.ts'
import type { Spoken } from '../../../ports/speech/spoken.ts'
import { type Language, languageOf } from '../service/language.ts'
import { defineService, type JsonInput, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'

const MAX_VOICES_NAMED = 40
const DEFAULT_LANGUAGE = 'en'
/** Text without a matching voice is refused only if its language was detected with at least this confidence. */
const SURE = 0.5

export const textToSpeech = defineService({
  slug: 'text_to_speech',
  needs: ['speech'],
  check(input, { engines }) {
    if (!/[\p{L}\p{N}]/u.test(textOf(input, 'text'))) throw wrongField('text', 'contains no words to speak')
    check(input, 'voice_id', engines.speech.voices())
    check(input, 'model_id', engines.speech.models())
  },
  async read(input, { engines, elsewhere, signal }): Promise<Spoken> {
    const text = textOf(input, 'text')
    const named = { voice: nameIn(input, 'voice_id'), model: nameIn(input, 'model_id') }
    const isNamed = named.voice !== undefined || named.model !== undefined
    const wish = {
      text,
      ...named,
      language: spokenIn(await elsewhere(languageOf, text), isNamed ? () => true : engines.speech.speaks),
    }
    return fromUpstream(engines.speech.speak(wish, signal), 'text')
  },
  make: (input, spoken): Json => ({
    voice_id: spoken.voice,
    model_id: spoken.model,
    language: spoken.language,
    content_type: spoken.contentType,
    sample_rate_hz: spoken.sampleRateHz,
    channels: 1,
    duration_seconds: Math.round(spoken.seconds * 100) / 100,
    characters: textOf(input, 'text').length,
    bytes: spoken.audio.byteLength,
    sha256: hash('sha256', spoken.audio),
    // `audio` comes from a worker thread as a plain `Uint8Array`.
    audio_base64: Buffer.from(spoken.audio).toString('base64'),
    engine: { ...spoken.engine, ...(spoken.isFallback ? { fallback_from: 'natural voices' } : {}) },
  }),
})

/** @throws AppError input_invalid if the text is surely in a language for which there is no voice */
function spokenIn(found: Language | undefined, speaks: Speech['speaks']): string {
  if (!found) return DEFAULT_LANGUAGE
  if (speaks(found.language)) return found.language
  if (found.confidence < SURE) return DEFAULT_LANGUAGE
  const name = new Intl.DisplayNames(['en'], { type: 'language' }).of(found.language) ?? found.language
  throw wrongField('text', `is in ${name}, for which there is no voice: set voice_id to use another voice`)
}

function nameIn(input: JsonInput, field: string): string | undefined {
  return textOf(input, field).trim() || undefined
}

/** @throws AppError input_invalid that lists the available values */
function check(input: JsonInput, field: 'voice_id' | 'model_id', there: ReturnType<Speech['voices']>): void {
  const name = nameIn(input, field)
  if (name === undefined || there.includes(name)) return
  const some = there.filter((one) => !one.includes('+')).slice(0, MAX_VOICES_NAMED)
  throw wrongField(field, `unknown value; available: ${some.join(', ')}`)
}
