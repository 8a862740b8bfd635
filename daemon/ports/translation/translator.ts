import { z } from 'zod'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Engine, Reached } from '../engine.ts'
import type { Llm } from '../llm/llm.ts'
import { type Upstream, UpstreamError } from '../upstream/upstream.ts'
import { type Apertium, openApertium } from './apertium.ts'
import { around, type Segment } from './segments.ts'

export type TranslationWish = {
  readonly segments: readonly Segment[]
  /** ISO 639-1; undefined: detected. */
  readonly from: string | undefined
  readonly to: string
}
export type Translated = {
  readonly translation: string
  readonly from: string | undefined
  readonly segments: number
  /** `gist`: conveys the topic only. */
  readonly quality: 'full' | 'gist'
  readonly engine: {
    readonly name: string
    readonly version: string
    readonly kind: 'deterministic' | 'upstream' | 'model'
    readonly model?: string
  }
  /** Name of the preferred engine, if it failed. */
  readonly fallbackFrom?: string
}

export type Translator = {
  /** Target languages; undefined if only the API knows. */
  readonly targets: () => readonly string[] | undefined
  /** Whether a pair is supported; undefined if only the API knows. */
  readonly knows: (from: string, to: string) => boolean | undefined
  /** @throws UpstreamError (`asker` for an unsupported pair), EngineGone, ProgramError */
  readonly translate: (wish: TranslationWish, signal: AbortSignal) => Promise<Translated>
}

/** Translates parts, and returns the translations in the same order. */
export type PieceTranslator = {
  readonly name: string
  readonly kind: 'upstream' | 'model'
  readonly model?: string
  readonly standing: Upstream['standing']
  /** Absent if another engine already reports whether this API responds. */
  readonly reach?: (signal: AbortSignal) => Promise<Reached>
  readonly pieces: (texts: readonly string[], wish: TranslationWish, signal: AbortSignal) => Promise<Pieces>
}
type Pieces = { readonly texts: readonly string[]; readonly from?: string | undefined }

/** Opens translation by the configured API, with local translation as the fallback. */
export function openTranslator({
  remote,
  path,
}: {
  readonly remote?: PieceTranslator
  /** Folders to search for programs (default: `PATH`). */
  readonly path?: string
}): Engine<Translator> {
  const local = openApertium(path)
  return {
    port: {
      targets: () => (remote ? undefined : local.targets()),
      knows: (from, to) => local.pairOf(from, to) !== undefined || (remote ? undefined : false),
      translate: (wish, signal) => (remote ? byRemote({ remote, local }, wish, signal) : byLocal(local, wish, signal)),
    },
    initial: remote ? remote.standing() : { status: 'missing', detail: 'apertium has not been checked yet.' },
    probe: async () => {
      const found = await local.probe()
      const standing = remote?.standing()
      if (!standing || (standing.status !== 'ok' && found.status === 'ok')) return found
      return found.status === 'ok' ? { ...standing, detail: `${standing.detail}; ${found.detail}` } : standing
    },
    ...(remote?.reach ? { reach: remote.reach } : {}),
  }
}

type Ladder = { readonly remote: PieceTranslator; readonly local: Apertium }

async function byRemote({ remote, local }: Ladder, wish: TranslationWish, signal: AbortSignal): Promise<Translated> {
  try {
    const { segments } = wish
    const said = segments.filter(({ isKept }) => !isKept).map(({ text }) => around(text))
    const { texts, from } = await remote.pieces(
      said.map(({ inner }) => inner),
      wish,
      signal,
    )
    if (texts.length !== said.length) throw new UpstreamError('broken', `${remote.name} lost a part of the text.`)
    const pieces = said.map(({ before, after }, at) => `${before}${texts[at] ?? ''}${after}`)
    let next = 0
    const translation = segments.map(({ text, isKept }) => (isKept ? text : (pieces[next++] ?? ''))).join('')
    const { name, kind, model } = remote
    const engine = { name, version: '1', kind, ...(model === undefined ? {} : { model }) }
    return { translation, from: wish.from ?? from, segments: said.length, quality: 'full', engine }
  } catch (error) {
    const isAsker = error instanceof UpstreamError && error.failure === 'asker'
    const pair = wish.from === undefined ? undefined : local.pairOf(wish.from, wish.to)
    if (signal.aborted || isAsker || pair === undefined) throw error
    return { ...(await byLocal(local, wish, signal)), fallbackFrom: remote.name }
  }
}

async function byLocal(local: Apertium, wish: TranslationWish, signal: AbortSignal): Promise<Translated> {
  const pair = wish.from === undefined ? undefined : local.pairOf(wish.from, wish.to)
  if (pair === undefined) throw new UpstreamError('asker', `languages: ${local.pairs().join(', ') || 'none'}`)
  const translation = await local.translate(wish.segments, pair, signal)
  const engine = { name: 'apertium', version: local.version(), kind: 'deterministic' } as const
  return { translation, from: wish.from, segments: 1, quality: 'gist', engine }
}

const Libre = z.object({
  translatedText: z.string().max(100_000),
  detectedLanguage: z
    .object({ language: z.string().max(20) })
    .partial()
    .nullish(),
})
const LibreLanguages = z
  .array(z.object({ code: z.string().max(20), targets: z.array(z.string().max(20)).optional() }))
  .max(500)

/** LibreTranslate, public or self-hosted. */
export function libreTranslate(upstream: Upstream, key: string | undefined): PieceTranslator {
  return {
    name: 'libretranslate',
    kind: 'upstream',
    standing: upstream.standing,
    reach: upstream.reach,
    async pieces(texts, { from, to }, signal) {
      const { value } = await upstream.ask({ path: '/languages', schema: LibreLanguages, keepMs: DAY_MS, signal })
      const codes = value.map(({ code }) => code)
      if (!codes.includes(to)) throw new UpstreamError('asker', `available: ${codes.join(', ')}`)
      const made: z.output<typeof Libre>[] = []
      for (const q of texts) {
        const keyed = key === undefined ? {} : { api_key: key }
        const body = { q, source: from ?? 'auto', target: to, format: 'text', ...keyed }
        made.push((await upstream.ask({ path: '/translate', body, schema: Libre, signal })).value)
      }
      return { texts: made.map(({ translatedText }) => translatedText), from: made[0]?.detectedLanguage?.language }
    },
  }
}

const DeepL = z.object({
  translations: z.array(
    z.object({ text: z.string().max(100_000), detected_source_language: z.string().max(20).optional() }),
  ),
})
/** Limit of texts per request; `DEEPL_BYTES` limits their size. */
const DEEPL_TEXTS = 50
const DEEPL_BYTES = 100 * 1024
/** Codes of target languages for which DeepL needs a country. */
const deeplTargets: Readonly<Record<string, string>> = { en: 'EN-US', pt: 'PT-PT' }

export function deepL(upstream: Upstream): PieceTranslator {
  return {
    name: 'deepl',
    kind: 'upstream',
    standing: upstream.standing,
    reach: upstream.reach,
    async pieces(texts, { from, to }, signal) {
      const target_lang = deeplTargets[to] ?? to.toUpperCase()
      const source = from === undefined ? {} : { source_lang: from.toUpperCase().replace(/-.*$/, '') }
      const made: z.output<typeof DeepL>['translations'] = []
      for (const text of batches(texts)) {
        const { value } = await upstream.ask({
          path: '/v2/translate',
          body: { text, target_lang, ...source },
          schema: DeepL,
          signal,
        })
        made.push(...value.translations)
      }
      return { texts: made.map(({ text }) => text), from: made[0]?.detected_source_language?.toLowerCase() }
    },
  }
}

function batches(texts: readonly string[]): string[][] {
  const made: string[][] = []
  let bytes = 0
  for (const text of texts) {
    const size = Buffer.byteLength(text)
    const last = made.at(-1)
    if (last && last.length < DEEPL_TEXTS && bytes + size <= DEEPL_BYTES) last.push(text)
    else made.push([text])
    bytes = last === made.at(-1) ? bytes + size : size
  }
  return made
}

const MODEL_TOKENS = 4_000
const Told = z.object({ translation: z.string().max(50_000) })
const TRANSLATION_SCHEMA = {
  type: 'object',
  properties: { translation: { type: 'string' } },
  required: ['translation'],
  additionalProperties: false,
}

/** A language model. */
export function modelTranslator(llm: Llm, standing: Upstream['standing']): PieceTranslator {
  return {
    name: 'llm',
    kind: 'model',
    model: llm.model,
    standing,
    async pieces(texts, { from, to }, signal) {
      const made: string[] = []
      for (const data of texts) {
        const task = `Translate the data ${from === undefined ? '' : `from the language "${from}" `}to the language "${to}". Keep its lines.`
        const answer = await llm.ask({ task, data, schema: TRANSLATION_SCHEMA, maxTokens: MODEL_TOKENS, signal })
        const told = Told.safeParse(answer)
        if (!told.success) throw new UpstreamError('broken', 'The language model returned no translation.')
        made.push(told.data.translation)
      }
      return { texts: made }
    },
  }
}
