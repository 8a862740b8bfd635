import type { MarketProvider } from '../../../../src/model/engines/config.ts'
import type { AudioEngine } from '../../../ports/audio/audio.ts'
import type { Browser } from '../../../ports/browser/browser.ts'
import type { Dns } from '../../../ports/dns/dns.ts'
import type { Dom } from '../../../ports/dom/dom.ts'
import type { EngineBoard } from '../../../ports/engine.ts'
import type { Llm } from '../../../ports/llm/llm.ts'
import type { Speech } from '../../../ports/speech/speech.ts'
import type { Tls } from '../../../ports/tls/tls.ts'
import type { Translator } from '../../../ports/translation/translator.ts'
import type { Rdap } from '../../../ports/upstream/rdap.ts'
import type { Upstream } from '../../../ports/upstream/upstream.ts'

/** What services may need besides the web, by name. */
export type Engines = {
  readonly browser: Browser
  readonly dns: Dns
  /** Stands in for the browser where whoever runs the marketplace wants that. */
  readonly dom: Dom
  readonly tls: Tls
  readonly rdap: Rdap
  /** Known vulnerabilities, as OSV answers. */
  readonly advisories: Upstream
  /** Recordings, by ffmpeg. */
  readonly audio: AudioEngine
  readonly coins: Upstream
  readonly geocoding: Upstream
  /** Funding notices, as Grants.gov answers. */
  readonly grants: Upstream
  /** A language model, off unless configured. */
  readonly llm: Llm
  readonly market: Market
  readonly speech: Speech
  readonly translator: Translator
  readonly weather: Upstream
}
/** Prices of shares; its answers are read as those of Twelve Data unless it says whose they are. */
export type Market = Upstream & { readonly provider?: MarketProvider }
export type EngineName = keyof Engines
export type Board = EngineBoard<Engines>

/** Which engine made a result, as each of them says. */
export type ResultEngine = {
  readonly name: string
  readonly version: string
  /** The weakest that had a part in it. */
  readonly kind: 'deterministic' | 'model' | 'upstream'
  readonly model?: string
  readonly fetched_at?: string
  /** What would have been used, were it there. */
  readonly fallback_from?: string
}
