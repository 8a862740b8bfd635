import { createHash } from 'node:crypto'
import type { Json } from '../../../../src/core/json.ts'
import type { Speech, Spoken } from '../../../ports/speech/speech.ts'
import { defineService, type JsonInput, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'
import { languageOf } from '../text/language.ts'

const MAX_VOICES_NAMED = 40
const DEFAULT_LANGUAGE = 'en'

/** Speaks a text: by the program on this machine, or by natural voices where they are configured. */
export const textToSpeech = defineService({
  slug: 'text_to_speech',
  needs: ['speech'],
  isQuick: () => true, // another program did the work
  check(input, { engines }) {
    if (textOf(input, 'text').trim() === '') throw wrongField('text', 'holds nothing to speak')
    check(input, 'voice_id', engines.speech.voices())
    check(input, 'model_id', engines.speech.models())
  },
  async read(input, { engines, signal }): Promise<Spoken> {
    const text = textOf(input, 'text')
    const language = (await languageOf(text))?.language ?? DEFAULT_LANGUAGE
    const wish = { text, language, voice: named(input, 'voice_id'), model: named(input, 'model_id') }
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
    sha256: createHash('sha256').update(spoken.audio).digest('hex'),
    audio_base64: spoken.audio.toString('base64'),
    engine: { ...spoken.engine, ...(spoken.isFallback ? { fallback_from: 'natural voices' } : {}) },
  }),
})

function named(input: JsonInput, field: string): string | undefined {
  return textOf(input, field).trim() || undefined
}

/** @throws AppError input_invalid that says what there is. */
function check(input: JsonInput, field: 'voice_id' | 'model_id', there: ReturnType<Speech['voices']>): void {
  const name = named(input, field)
  if (name === undefined || there.includes(name)) return
  const some = there.filter((one) => !one.includes('+')).slice(0, MAX_VOICES_NAMED)
  throw wrongField(field, `is not known here; there are ${some.join(', ')}`)
}
