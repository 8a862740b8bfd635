import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { OUTSIDE } from '../../../../fixtures/outside/load.ts'
import { openAudio } from '../../../ports/audio/audio.ts'
import { openSpeech } from '../../../ports/speech/speech.ts'
import { pcmOf } from '../../../ports/speech/wav.ts'
import { delivered } from '../delivers.testkit.ts'
import { sentencesOf, wordsOf } from '../service/english.ts'
import { textToSpeech } from './text-to-speech.ts'

// @deep speaks sentences of public texts with several voices

/* How public texts sound: as fast as people speak, as loud as recordings, silent between words, longer where there is more to say. */

const voices = ['slt', 'rms', 'awb', 'kal'] as const
const speech = openSpeech({ audio: openAudio({ path: '/nowhere' }).port, path: '/nowhere' })
afterAll(() => speech.close?.())

const text = readFileSync(join(OUTSIDE, 'axios/README.md'), 'utf8')
const sentences = text
  .split(/\n\s*\n/)
  .filter((block) => /^[A-Z][a-z]/.test(block) && !/[`|<[\]{}#*_:/]/.test(block))
  .flatMap((block) => sentencesOf(block.replace(/\s+/g, ' ')))
  .filter((one) => /^[A-Z].*[.]$/.test(one) && wordsOf(one).length >= 6 && wordsOf(one).length <= 30)
  .slice(0, 12)

const syllables = (one: string) =>
  wordsOf(one).reduce((sum, word) => sum + Math.max(1, word.replace(/e$/, '').match(/[aeiouy]+/g)?.length ?? 0), 0)

const FRAME_SECONDS = 0.02
/** Loudness of each frame, as the root of its mean square. */
function framesOf({ samples, sampleRateHz }: ReturnType<typeof pcmOf>): number[] {
  const size = Math.round(sampleRateHz * FRAME_SECONDS)
  return Array.from({ length: Math.floor(samples.length / size) }, (_, at) => {
    const frame = samples.subarray(at * size, (at + 1) * size)
    return Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / size)
  })
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length
  const [x, y] = [mean(0), mean(1)]
  const sum = (of: (a: number, b: number) => number) => pairs.reduce((all, [a, b]) => all + of(a - x, b - y), 0)
  return sum((a, b) => a * b) / Math.sqrt(sum((a) => a * a) * sum((_, b) => b * b))
}

it('sentences of public texts are spoken as people speak, by every voice', async () => {
  expect(sentences.length).toBeGreaterThanOrEqual(8)
  for (const voice_id of voices) {
    const spoken: { sentence: string; seconds: number; frames: number[]; clipped: number }[] = []
    for (const sentence of sentences) {
      const input = { text: sentence, voice_id }
      const made = await delivered({ service: textToSpeech, input, means: { engines: { speech: speech.port } } })
      const pcm = pcmOf(Buffer.from(made.audio_base64, 'base64'))
      const clipped = pcm.samples.filter((sample) => Math.abs(sample) > 32_000).length / pcm.samples.length
      spoken.push({ sentence, seconds: made.duration_seconds, frames: framesOf(pcm), clipped })
    }
    const seconds = spoken.reduce((sum, one) => sum + one.seconds, 0)
    const frames = spoken.flatMap((one) => one.frames)
    const loud = frames.filter((level) => level > 300).length / frames.length
    const figures = {
      sentences: spoken.length,
      'words a minute': (60 * spoken.reduce((sum, { sentence }) => sum + wordsOf(sentence).length, 0)) / seconds,
      'length by syllables': correlation(spoken.map((one) => [syllables(one.sentence), one.seconds])),
      'sounding share': loud,
      clipped: Math.max(...spoken.map((one) => one.clipped)),
    }
    told(`text_to_speech, public sentences by ${voice_id}`, figures)
    expect(figures['words a minute']).toBeGreaterThan(110)
    expect(figures['words a minute']).toBeLessThan(230)
    expect(figures['length by syllables']).toBeGreaterThanOrEqual(0.85)
    expect(figures['sounding share']).toBeGreaterThan(0.4)
    expect(figures['sounding share']).toBeLessThan(0.98)
    expect(figures.clipped).toBeLessThan(0.001)
  }
})
