import { SECOND_MS } from '../../src/core/time.ts'
import type { EngineConfig } from '../../src/model/engines/config.ts'
import type { Board, Engines } from '../features/first-party/service/engines.ts'
import { type Context, defineResource } from '../kernel/context.ts'
import { web } from '../kernel/web.ts'
import { openAudio } from '../ports/audio/audio.ts'
import { openBrowsers } from '../ports/browser/browser.ts'
import { openDns } from '../ports/dns/dns.ts'
import { builtIn, type Engine, openBoard } from '../ports/engine.ts'
import { type Llm, openLlm } from '../ports/llm/llm.ts'
import { openSpeech } from '../ports/speech/speech.ts'
import { openTls } from '../ports/tls/tls.ts'
import { deepL, libreTranslate, modelTranslator, openTranslator } from '../ports/translation/translator.ts'
import { openRdap } from '../ports/upstream/rdap.ts'
import { openUpstream, type UpstreamOptions, upstreamEngine } from '../ports/upstream/upstream.ts'
import type { Web } from '../ports/web/web.ts'

export const engineBoard = defineResource<Board>('engines')

export type EnginesChange = Partial<EngineSet>
type EngineSet = { readonly [N in keyof Engines]: Engine<Engines[N]> }

/** Opens this machine's engines. An engine in `change` replaces the one of the same name. */
export function openEngines(ctx: Context, change: EnginesChange = {}): void {
  const { config, clock, entropy } = ctx
  const own = enginesOf({ web: web.of(ctx), wall: clock.wall, entropy, config: config.engines ?? {} })
  const board = openBoard<Engines>({ ...own, ...change }, clock.wall)
  engineBoard.open(ctx, board, board.close)
}

type Around = {
  readonly web: Web
  readonly wall: () => number
  readonly entropy: Context['entropy']
  readonly config: EngineConfig
}

function enginesOf(around: Around): EngineSet {
  const { web, wall, config } = around
  const dns = openDns()
  const tls = openTls({ resolve: web.resolve })
  const audio = openAudio(config.audio ? { command: config.audio.ffmpeg } : {})
  const llm = modelOf(around)
  const rdap = openRdap({ web, wall, ...(config.rdap ? { bootstrap: config.rdap.url } : {}) })
  const { path, sandbox } = config.browser ?? {}
  return {
    audio,
    browser: openBrowsers({ web, path, isSandboxed: sandbox !== false }),
    llm,
    dns: builtIn(dns, `resolvers: ${dns.servers().join(', ') || 'none on this machine'}`),
    rdap: builtIn(rdap, "asks the registry of the domain's top-level domain at each purchase", rdap.reach),
    speech: openSpeech({ audio: audio.port, ...naturalVoices(around) }),
    translator: openTranslator(remoteTranslator(around, llm)),
    tls: { ...builtIn(tls, `OpenSSL ${process.versions.openssl}`), close: tls.close },
    ...upstreamsOf(around),
  }
}

const SPEECH_BYTES = 6 * 1024 * 1024
const SPEECH_TIMEOUT_MS = 25 * SECOND_MS

function naturalVoices({ web, wall, config: { speech } }: Around) {
  if (!speech) return {}
  const { url, key, voices, models } = speech
  const upstream = openUpstream({
    web,
    wall,
    name: 'The voices',
    base: url,
    reachPath: '/v1/models',
    headers: { 'xi-api-key': key },
    maxBytes: SPEECH_BYTES,
    timeoutMs: SPEECH_TIMEOUT_MS,
    fix: 'set speech.url and speech.key in the engines file',
  })
  return { natural: { upstream, voices, models } }
}

const MODEL_TIMEOUT_MS = 20 * SECOND_MS
const MARK_BYTES = 8

function modelOf({ web, wall, entropy, config: { llm } }: Around): Engine<Llm> {
  const upstream = openUpstream({
    web,
    wall,
    name: 'The model',
    base: llm?.url,
    reachPath: '/models',
    ...(llm?.key === undefined ? {} : { headers: { authorization: `Bearer ${llm.key}` } }),
    timeoutMs: MODEL_TIMEOUT_MS,
    fix: 'set llm.url, llm.model and llm.use in the engines file',
  })
  return openLlm({
    upstream,
    wall,
    model: llm?.model ?? '',
    uses: llm?.use ?? [],
    tokensPerDay: llm?.tokens_per_day ?? 0,
    nonce: () => entropy(MARK_BYTES).toString('hex'),
  })
}

const TRANSLATION_TIMEOUT_MS = 15 * SECOND_MS
const DEEPL = 'https://api.deepl.com'
const DEEPL_FREE = 'https://api-free.deepl.com'

function remoteTranslator({ web, wall, config: { translate } }: Around, llm: Engine<Llm>) {
  if (!translate) return {}
  if (translate.provider === 'llm') return { remote: modelTranslator(llm.port, () => llm.initial) }
  const common = { web, wall, timeoutMs: TRANSLATION_TIMEOUT_MS }
  if (translate.provider === 'libretranslate') {
    const { url, key } = translate
    const upstream = openUpstream({
      ...common,
      name: 'LibreTranslate',
      base: url,
      reachPath: '/languages',
      fix: 'set translate.url in the engines file',
    })
    return { remote: libreTranslate(upstream, key) }
  }
  const { key, url = key.endsWith(':fx') ? DEEPL_FREE : DEEPL } = translate
  const headers = { authorization: `DeepL-Auth-Key ${key}` }
  return {
    remote: deepL(
      openUpstream({
        ...common,
        name: 'DeepL',
        base: url,
        reachPath: '/v2/usage',
        headers,
        fix: 'set translate.key in the engines file',
      }),
    ),
  }
}

const OSV_BYTES = 8 * 1024 * 1024
const OSV_PER_MINUTE = 600
const GRANTS_BYTES = 4 * 1024 * 1024

/** Engines for external APIs. An API without a default address is off until the operator configures one. */
function upstreamsOf(around: Around) {
  const { web, wall, config } = around
  const { advisories, coins, grants, market, weather } = config
  const open = (options: Omit<UpstreamOptions, 'web' | 'wall'>) =>
    upstreamEngine(openUpstream({ web, wall, ...options }))
  const forecasts = { base: weather?.url, fix: 'set weather.url in the engines file' }
  return {
    advisories: open({
      name: 'OSV',
      base: advisories?.url ?? 'https://api.osv.dev',
      maxBytes: OSV_BYTES,
      perMinute: OSV_PER_MINUTE,
      fix: 'set advisories.url in the engines file',
    }),
    coins: open({
      name: 'CoinGecko',
      base: coins?.url,
      reachPath: '/ping',
      ...(coins?.key === undefined ? {} : { headers: { [`x-cg-${coins.plan}-api-key`]: coins.key } }),
      fix: 'set coins.url in the engines file',
    }),
    grants: open({
      name: 'Grants.gov',
      base: grants?.url ?? 'https://api.grants.gov/v1/api',
      maxBytes: GRANTS_BYTES,
      fix: 'set grants.url in the engines file',
    }),
    market: open({
      name: 'Twelve Data',
      base: market?.url,
      headers: { authorization: `apikey ${market?.key}` },
      fix: 'set market.url and market.key in the engines file',
    }),
    geocoding: open({ name: 'The geocoder', ...forecasts, base: weather?.geocoding_url }),
    weather: open({ name: 'Open-Meteo', ...forecasts }),
  }
}
