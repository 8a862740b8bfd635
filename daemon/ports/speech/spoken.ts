import type { AudioEngine } from '../audio/audio.ts'
import { type Pcm, secondsOf, wavOf, wavWithin } from './wav.ts'

export type SpeechWish = {
  readonly text: string
  /** One of `voices`; undefined: the best for the language. */
  readonly voice: string | undefined
  /** One of `models`, or undefined for the default of the voice's engine. */
  readonly model: string | undefined
  /** Language of the text (ISO 639-1). */
  readonly language: string
}
export type Spoken = {
  readonly voice: string
  readonly model: string
  readonly language: string
  readonly contentType: 'audio/mpeg' | 'audio/wav'
  readonly audio: Buffer
  readonly sampleRateHz: number
  readonly seconds: number
  readonly engine: { readonly name: string; readonly version: string; readonly kind: 'deterministic' | 'upstream' }
  /** Natural voices failed. */
  readonly isFallback: boolean
}

type Sound = Pick<Spoken, 'contentType' | 'audio' | 'sampleRateHz' | 'seconds'>
/** Compresses samples so that they fit a deliverable. */
export type Pack = (pcm: Pcm, signal: AbortSignal) => Promise<Sound>

/** Size limit of audio, so that its base64 fits a deliverable. */
export const MAX_AUDIO_BYTES = 5.5 * 1024 * 1024
const SPEECH_KBPS = 48
const SPEECH_RATE_HZ = 22_050
const MAX_SECONDS = 1_200

/** Packs sound as MP3 if ffmpeg is installed, else as WAV; both fit a deliverable. */
export function packer(audio: AudioEngine): Pack {
  return async (pcm, signal) => {
    const seconds = secondsOf(pcm)
    if (!audio.isThere()) {
      const { wav, sampleRateHz } = wavWithin(pcm, MAX_AUDIO_BYTES)
      return { contentType: 'audio/wav', audio: wav, sampleRateHz, seconds }
    }
    const shape = { gainDb: 0, sampleRateHz: SPEECH_RATE_HZ, channels: 1, bitrateKbps: SPEECH_KBPS } as const
    const mp3 = await audio.over(wavOf(pcm), { maxSeconds: MAX_SECONDS, signal }, (recording) => recording.mp3(shape))
    return { contentType: 'audio/mpeg', audio: mp3, sampleRateHz: SPEECH_RATE_HZ, seconds }
  }
}

/** Removes what synthesizers interpret: double brackets (phonemes) and control characters (commands). */
export function plain(text: string): string {
  return text.replace(/\[(?=\[)/g, '[ ').replace(/[\p{Cc}]+/gu, (run) => (run.includes('\n') ? '\n' : ' '))
}
