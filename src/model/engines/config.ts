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
/** Functions that a model can work for. */
const modelFunctions = ['structured_web_extraction', 'summarization', 'translation'] as const
const MAX_NAMES = 50
/** Who tells prices of shares. */
const marketProviders = ['twelvedata', 'alphavantage'] as const
export type MarketProvider = (typeof marketProviders)[number]
const Name = z.string().regex(/^[\w.-]{1,80}$/, 'must be letters, digits, ".", "_" or "-"')

/**
 * Where functions of the house ask others, and with which keys. Whoever runs the marketplace names them, so they may
 * stand anywhere, this machine included.
 */
export const EngineConfig = z.strictObject({
  /** An interface like that of osv.dev, which it is unless given. */
  advisories: z.strictObject({ url: Url }).exactOptional(),
  /** The program that works on recordings, where it is not found by its name. */
  audio: z.strictObject({ ffmpeg: Path }).exactOptional(),
  /** A Chromium, where it is not found by its name; without its sandbox only where the system forbids that. */
  browser: z.strictObject({ path: Path.exactOptional(), sandbox: z.boolean().default(true) }).exactOptional(),
  /** CoinGecko: the address belongs to the plan. */
  coins: z
    .strictObject({ url: Url, key: Key.exactOptional(), plan: z.enum(['demo', 'pro']).default('demo') })
    .exactOptional(),
  /**
   * jsdom, which judges accessibility less well where no browser is there: `{}` where it is installed beside the program,
   * else its folder.
   */
  dom: z.strictObject({ jsdom: Path.exactOptional() }).exactOptional(),
  /** An interface like that of Grants.gov, which it is unless given. */
  grants: z.strictObject({ url: Url }).exactOptional(),
  /**
   * A language model behind an interface like that of OpenAI, also on this machine. It sees what the functions in `use`
   * work with, and nothing of others.
   */
  llm: z
    .strictObject({
      url: Url,
      key: Key.exactOptional(),
      model: z.string().min(1).max(MAX_MODEL_CHARS),
      use: z.array(z.enum(modelFunctions)).max(modelFunctions.length),
      tokens_per_day: z.int().min(1).default(DEFAULT_TOKENS),
    })
    .exactOptional(),
  /** Prices of shares, by Twelve Data unless given; whether they may be sold is a matter of the account. */
  market: z.strictObject({ provider: z.enum(marketProviders).exactOptional(), url: Url, key: Key }).exactOptional(),
  /** List of registries (RFC 9224); that of IANA unless given. */
  rdap: z.strictObject({ url: Url }).exactOptional(),
  /** Natural voices of an interface like that of ElevenLabs; the first voice and model are taken where none is named. */
  speech: z
    .strictObject({
      url: Url,
      key: Key,
      voices: z.array(Name).min(1).max(MAX_NAMES),
      models: z.array(Name).min(1).max(MAX_NAMES).default(['eleven_multilingual_v2']),
    })
    .exactOptional(),
  /** Who translates in full; `llm` is the model above. */
  translate: z
    .discriminatedUnion('provider', [
      z.strictObject({ provider: z.literal('libretranslate'), url: Url, key: Key.exactOptional() }),
      z.strictObject({ provider: z.literal('deepl'), url: Url.exactOptional(), key: Key }),
      z.strictObject({ provider: z.literal('llm') }),
    ])
    .exactOptional(),
  /** Open-Meteo, whose public address is for non-commercial use: name one that may be sold from. */
  weather: z.strictObject({ url: Url, geocoding_url: Url }).exactOptional(),
})
export type EngineConfig = z.output<typeof EngineConfig>
