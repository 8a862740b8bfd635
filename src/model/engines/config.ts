import { z } from 'zod'

const MAX_URL_CHARS = 2_048
const MAX_KEY_CHARS = 500
const Url = z
  .string()
  .max(MAX_URL_CHARS)
  .regex(/^https?:\/\/\S+$/i, 'must be an http or https URL')
const Key = z.string().min(1).max(MAX_KEY_CHARS)
const MAX_PATH_CHARS = 1_024
const Path = z.string().max(MAX_PATH_CHARS).regex(/^\//, 'must be an absolute path')
const MAX_MODEL_CHARS = 200
const DEFAULT_TOKENS = 200_000
/** First-party services that can use a model. */
const modelFunctions = ['structured_web_extraction', 'summarization', 'translation'] as const
const MAX_NAMES = 50
const Name = z.string().regex(/^[\w.-]{1,80}$/, 'must be letters, digits, ".", "_" or "-"')

/** Addresses and keys of external APIs, chosen by the operator, so any address is allowed. */
export const EngineConfig = z.strictObject({
  /** osv.dev-like API (default: osv.dev). */
  advisories: z.strictObject({ url: Url }).exactOptional(),
  audio: z.strictObject({ ffmpeg: Path }).exactOptional(),
  /** Path of Chromium. Turn `sandbox` off only if the system does not support Chromium's sandbox. */
  browser: z.strictObject({ path: Path.exactOptional(), sandbox: z.boolean().default(true) }).exactOptional(),
  /** CoinGecko, which has a different address for each `plan`. */
  coins: z
    .strictObject({ url: Url, key: Key.exactOptional(), plan: z.enum(['demo', 'pro']).default('demo') })
    .exactOptional(),
  /** Grants.gov-like API (default: Grants.gov). */
  grants: z.strictObject({ url: Url }).exactOptional(),
  /** OpenAI-like language model. It sees only the data of the first-party services in `use`. */
  llm: z
    .strictObject({
      url: Url,
      key: Key.exactOptional(),
      model: z.string().min(1).max(MAX_MODEL_CHARS),
      use: z.array(z.enum(modelFunctions)).max(modelFunctions.length),
      tokens_per_day: z.int().min(1).default(DEFAULT_TOKENS),
    })
    .exactOptional(),
  /** Share prices of Twelve Data; resale rights depend on the account. */
  market: z.strictObject({ url: Url, key: Key }).exactOptional(),
  /** RFC 9224 registry list (default: IANA's). */
  rdap: z.strictObject({ url: Url }).exactOptional(),
  /** ElevenLabs-like voices; the first voice and model are defaults. */
  speech: z
    .strictObject({
      url: Url,
      key: Key,
      voices: z.array(Name).min(1).max(MAX_NAMES),
      models: z.array(Name).min(1).max(MAX_NAMES).default(['eleven_multilingual_v2']),
    })
    .exactOptional(),
  /** Engine for complete translations. The provider `llm` uses the configured language model. */
  translate: z
    .discriminatedUnion('provider', [
      z.strictObject({ provider: z.literal('libretranslate'), url: Url, key: Key.exactOptional() }),
      z.strictObject({ provider: z.literal('deepl'), url: Url.exactOptional(), key: Key }),
      z.strictObject({ provider: z.literal('llm') }),
    ])
    .exactOptional(),
  /** Open-Meteo. Its public address is for non-commercial use only, so configure a paid one. */
  weather: z.strictObject({ url: Url, geocoding_url: Url }).exactOptional(),
})
export type EngineConfig = z.output<typeof EngineConfig>
