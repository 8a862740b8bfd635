import { afterAll, describe, expect, it } from 'vitest'
import { openAudio } from '../../../ports/audio/audio.ts'
import { openSpeech } from '../../../ports/speech/speech.ts'
import { pcmOf } from '../../../ports/speech/wav.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { textToSpeech } from './text-to-speech.ts'

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and nobody minds.'
const MAX_CHARS = 5_000
const MAX_BYTES = 6 * 1024 * 1024

describe('speech with nothing installed', () => {
  const speech = openSpeech({ audio: openAudio({ path: '/nowhere' }).port, path: '/nowhere' })
  afterAll(() => speech.close?.())
  const speak = (input: JsonInput) =>
    delivered({ service: textToSpeech, input, means: { engines: { speech: speech.port } } })

  it('is there before anybody looked, and says what it lacks', async () => {
    expect(speech.initial).toMatchObject({ status: 'ok' })
    expect(await speech.probe?.()).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/English; install espeak-ng/),
    })
    const none = openSpeech({ audio: openAudio({ path: '/nowhere' }).port, path: '/nowhere', flite: '/nowhere' })
    expect([none.initial.status, (await none.probe?.())?.status]).toEqual(['missing', 'missing'])
  })

  it('speaks English as long as it takes, the same for the same words, and each voice in its own way', async () => {
    const [one, again, other] = [
      await speak({ text: SENTENCE }),
      await speak({ text: SENTENCE }),
      await speak({ text: SENTENCE, voice_id: 'rms' }),
    ]
    const { samples, sampleRateHz } = pcmOf(Buffer.from(one.audio_base64, 'base64'))
    expect(samples.length / sampleRateHz).toBeCloseTo(one.duration_seconds, 1)
    expect(one.duration_seconds).toBeGreaterThan(SENTENCE.length * 0.04)
    expect(one.duration_seconds).toBeLessThan(SENTENCE.length * 0.12)
    // It sounds: loud in places, and quiet between the words.
    const loud = samples.filter((sample) => Math.abs(sample) > 1_000).length / samples.length
    expect([loud > 0.05, loud < 0.9]).toEqual([true, true])
    expect(one).toMatchObject({ voice_id: 'slt', model_id: 'flite', language: 'en', content_type: 'audio/wav' })
    expect(one.engine).toMatchObject({ name: 'flite', kind: 'deterministic' })
    expect([one.sha256 === again.sha256, one.sha256 === other.sha256]).toEqual([true, false])
  })

  it('speaks a text of many parts wholly and in order, within what can be delivered', async () => {
    const text = SENTENCE.repeat(30).slice(0, 1_500)
    const [long, short] = [await speak({ text, voice_id: 'kal' }), await speak({ text: SENTENCE, voice_id: 'kal' })]
    const times = text.length / SENTENCE.length
    expect(long.duration_seconds / short.duration_seconds / times).toBeCloseTo(1, 0)
    expect(long.duration_seconds).toBeGreaterThan(text.length * 0.04)
    expect(long.duration_seconds).toBeLessThan(text.length * 0.12)
    // So is the longest text allowed, which takes a slow machine longer than a test may ask.
    expect(long.bytes * (MAX_CHARS / text.length)).toBeLessThanOrEqual(MAX_BYTES)
    // What is spoken in parts begins with what the first of them begins with.
    const begin = (result: { audio_base64: string }) => Buffer.from(result.audio_base64, 'base64').subarray(44, 20_044)
    expect(begin(long).equals(begin(short))).toBe(true)
  })

  it.each([' ', '...', '?! –', '\u0001\u001b'])('refuses %j, in which there is no word to speak', (text) =>
    expect(() => textToSpeech.check({ text }, { engines: { speech: speech.port } })).toThrow(
      /^text: contains no words/,
    ),
  )

  it('refuses a text in a language that it does not speak, before anything is paid, unless a voice is named', async () => {
    const text = 'Guten Morgen, wie geht es Ihnen an diesem schönen Tag? Das Wetter ist heute besonders angenehm.'
    await expect(speak({ text })).rejects.toMatchObject({
      code: 'input_invalid',
      message: expect.stringMatching(/^text: is in German/),
    })
    await expect(speak({ text, voice_id: 'slt' })).resolves.toMatchObject({ voice_id: 'slt', language: 'en' })
  })

  it.each([
    '-o /etc/passwd',
    '--help',
    '-voicedump x',
    '<speak>x</speak>',
    '\u0000 -ssml',
    '[[h@l]] “quoted” – naïve ☃',
  ])('takes %j for words', async (text) =>
    expect(await speak({ text: `${text} ducks`, voice_id: 'kal' })).toMatchObject({ voice_id: 'kal' }),
  )

  it('that is given up ends, and the next text is spoken', async () => {
    const buyer = new AbortController()
    const wish = { text: SENTENCE.repeat(70), voice: undefined, model: undefined, language: 'en' }
    const asked = speech.port.speak(wish, buyer.signal)
    buyer.abort()
    await expect(asked).rejects.toMatchObject({ failure: 'aborted' })
    await expect(speak({ text: 'Ducks.', voice_id: 'kal' })).resolves.toMatchObject({ language: 'en' })
  })
})
