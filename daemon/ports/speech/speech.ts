import type { AudioEngine } from '../audio/audio.ts'
import type { Engine, EngineStanding } from '../engine.ts'
import { openProgram, programStanding } from '../program/program.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Pcm, pcmOf, secondsOf, wavOf, wavWithin } from './wav.ts'

export type SpeechWish = {
  readonly text: string
  /** One of `voices`; undefined: the best there is for the language. */
  readonly voice: string | undefined
  /** One of `models`; undefined: the first of the voice's engine. */
  readonly model: string | undefined
  /** Of the text (ISO 639-1). */
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
  /** Natural voices were wanted and gave nothing. */
  readonly isFallback: boolean
}
export type Speech = {
  readonly voices: () => readonly string[]
  readonly models: () => readonly string[]
  /** @throws UpstreamError, ProgramError */
  readonly speak: (wish: SpeechWish, signal: AbortSignal) => Promise<Spoken>
}

/** Voices of an interface like that of ElevenLabs. */
export type NaturalVoices = {
  readonly upstream: Upstream
  /** The first is taken where none is named. */
  readonly voices: readonly string[]
  readonly models: readonly string[]
}

type Options = {
  readonly audio: AudioEngine
  readonly natural?: NaturalVoices
  readonly command?: string
  /** Where the program is looked for. */
  readonly path?: string
}

/** Models of the program: itself. */
const LOCAL_MODEL = 'espeak-ng'
/** 5,000 characters in the slowest voice. */
const MAX_RAW_BYTES = 48 * 1024 * 1024
/** As base64 within a deliverable. */
const MAX_AUDIO_BYTES = 5.5 * 1024 * 1024
const SPEECH_KBPS = 48
const SPEECH_RATE_HZ = 22_050
const MAX_SECONDS = 1_200
const NATURAL_KBPS = 64
const NATURAL_RATE_HZ = 44_100
const BITS_A_BYTE = 8
const BITS_A_KBIT = 1_000
const DEFAULT_LANGUAGE = 'en'
/** A voice of the program may be spoken by another throat: `de+f2`. */
const THROAT = /\+(m[1-7]|f[1-5])$/
const throats = ['m1', 'm2', 'm3', 'f1', 'f2', 'f3']

/**
 * Speaks by espeak-ng, which stays on this machine; where natural voices are configured, they speak what names no voice
 * of the program, and the program stands in for them.
 */
export function openSpeech({ natural, ...options }: Options): Engine<Speech> {
  const espeak = openEspeak(options)

  /** What names neither voice nor model is spoken by whoever is there. */
  async function speakAnyhow(voices: NaturalVoices, wish: SpeechWish, signal: AbortSignal): Promise<Spoken> {
    try {
      return await byNature(voices, wish, signal)
    } catch (error) {
      if (signal.aborted || espeak.languages().length === 0) throw error
      return { ...(await espeak.speak(wish, signal)), isFallback: true }
    }
  }

  return {
    port: {
      voices: () => [...(natural?.voices ?? []), ...espeak.voices()],
      models: () => [...(natural?.models ?? []), ...(espeak.languages().length > 0 ? [LOCAL_MODEL] : [])],
      speak: (wish, signal) => {
        if (!natural || espeak.isMeant(wish)) return espeak.speak(wish, signal)
        const isNamed = wish.voice !== undefined || wish.model !== undefined
        return isNamed ? byNature(natural, wish, signal) : speakAnyhow(natural, wish, signal)
      },
    },
    initial: { status: 'missing', detail: 'espeak-ng was not looked for yet.', fix: 'install espeak-ng' },
    probe: async () => {
      const found = await espeak.probe()
      if (!natural) return found
      const upstream = natural.upstream.standing()
      if (found.status === 'ok') return { ...found, detail: `${found.detail}; ${upstream.detail}` }
      return upstream.status === 'ok' ? upstream : found
    },
  }
}

function openEspeak({ audio, command = LOCAL_MODEL, path }: Omit<Options, 'natural'>) {
  const program = openProgram(command, path === undefined ? {} : { path })
  let languages: readonly string[] = []
  let version = 'unknown'

  async function probe(): Promise<EngineStanding> {
    const found = await programStanding(program, { versionArgs: ['--version'], package: LOCAL_MODEL })
    languages = []
    if (found.status !== 'ok') return found
    version = /(\d+\.\d+\S*)/.exec(found.detail)?.[1] ?? version
    const { stdout } = await program.run({ args: ['--voices'], maxBytes: MAX_AUDIO_BYTES })
    languages = languagesIn(stdout.toString('utf8'))
    return found
  }

  return {
    probe,
    languages: () => languages,
    voices: () => languages.flatMap((name) => [name, ...throats.map((throat) => `${name}+${throat}`)]),
    isMeant: ({ voice, model }: SpeechWish) =>
      model === LOCAL_MODEL || languages.includes(voice?.replace(THROAT, '') ?? ''),
    speak: async ({ text, voice, language }: SpeechWish, signal: AbortSignal): Promise<Spoken> => {
      const spoken = voice ?? (languages.includes(language) ? language : DEFAULT_LANGUAGE)
      const args = ['--stdin', '-b', '1', '-v', spoken, '--stdout']
      const { stdout } = await program.run({ args, stdin: plain(text), maxBytes: MAX_RAW_BYTES, signal })
      return {
        voice: spoken,
        model: LOCAL_MODEL,
        language: spoken.replace(/[-+].*$/, ''),
        ...(await packed(audio, pcmOf(stdout), signal)),
        engine: { name: LOCAL_MODEL, version, kind: 'deterministic' },
        isFallback: false,
      }
    },
  }
}

async function byNature(
  { upstream, voices, models }: NaturalVoices,
  wish: SpeechWish,
  signal: AbortSignal,
): Promise<Spoken> {
  const [voice = '', model = ''] = [wish.voice ?? voices[0], wish.model ?? models[0]]
  const path = `/v1/text-to-speech/${encodeURIComponent(voice)}?output_format=mp3_${NATURAL_RATE_HZ}_${NATURAL_KBPS}`
  const audio = await upstream.bytes({ path, body: { text: wish.text, model_id: model }, type: 'audio/', signal })
  return {
    voice,
    model,
    language: wish.language,
    contentType: 'audio/mpeg',
    audio,
    sampleRateHz: NATURAL_RATE_HZ,
    seconds: (audio.length * BITS_A_BYTE) / (NATURAL_KBPS * BITS_A_KBIT),
    engine: { name: 'elevenlabs', version: '1', kind: 'upstream' },
    isFallback: false,
  }
}

/** As MP3 where ffmpeg is there, else as WAV: both are small enough to be delivered. */
async function packed(audio: AudioEngine, pcm: Pcm, signal: AbortSignal) {
  const seconds = secondsOf(pcm)
  if (!audio.isThere()) {
    const { wav, sampleRateHz } = wavWithin(pcm, MAX_AUDIO_BYTES)
    return { contentType: 'audio/wav' as const, audio: wav, sampleRateHz, seconds }
  }
  const shape = { gainDb: 0, sampleRateHz: SPEECH_RATE_HZ, channels: 1, bitrateKbps: SPEECH_KBPS } as const
  const mp3 = await audio.over(wavOf(pcm), { maxSeconds: MAX_SECONDS, signal }, (recording) => recording.mp3(shape))
  return { contentType: 'audio/mpeg' as const, audio: mp3, sampleRateHz: SPEECH_RATE_HZ, seconds }
}

/** Words alone: double brackets would be read as sounds, and control characters as commands. */
function plain(text: string): string {
  return text.replace(/\[(?=\[)/g, '[ ').replace(/[\p{Cc}]+/gu, (run) => (run.includes('\n') ? '\n' : ' '))
}

/** Second column of the table that the program prints of its voices; `en` is spoken by one of `en-gb`, `en-us`, … */
function languagesIn(table: string): string[] {
  const named = table.split('\n').flatMap((line) => /^\s*\d+\s+([a-z]{2,3}(?:-[a-z0-9]+)*)\s/.exec(line)?.[1] ?? [])
  const plainNames = named.map((name) => name.replace(/-.*$/, ''))
  return [...new Set([...plainNames, ...named])].sort()
}
