import type { AudioEngine } from '../../../ports/audio/audio.ts'
import type { Browser } from '../../../ports/browser/browser.ts'
import type { Dns } from '../../../ports/dns/dns.ts'
import type { EngineBoard } from '../../../ports/engine.ts'
import type { Llm } from '../../../ports/llm/llm.ts'
import type { Speech } from '../../../ports/speech/speech.ts'
import type { Tls } from '../../../ports/tls/tls.ts'
import type { Translator } from '../../../ports/translation/translator.ts'
import type { Rdap } from '../../../ports/upstream/rdap.ts'
import type { Upstream } from '../../../ports/upstream/upstream.ts'

/** Engines that services may use besides the web, by name. */
export type Engines = {
  readonly browser: Browser
  readonly dns: Dns
  readonly tls: Tls
  readonly rdap: Rdap
  /** Vulnerabilities, from OSV. */
  readonly advisories: Upstream
  /** Audio by ffmpeg. */
  readonly audio: AudioEngine
  readonly coins: Upstream
  readonly geocoding: Upstream
  /** Funding notices, from Grants.gov. */
  readonly grants: Upstream
  /** A language model; off unless configured. */
  readonly llm: Llm
  /** Share prices, from Twelve Data. */
  readonly market: Upstream
  readonly speech: Speech
  readonly translator: Translator
  readonly weather: Upstream
}
export type EngineName = keyof Engines
export type Board = EngineBoard<Engines>

/** The engine that made a result, as stated in the result. */
export type ResultEngine = {
  readonly name: string
  readonly version: string
  /** The least reliable kind among the engines that were used. */
  readonly kind: 'deterministic' | 'model' | 'upstream'
  readonly model?: string
  readonly fetched_at?: string
  /** The preferred engine, which was not available. */
  readonly fallback_from?: string
}
