import { AppError } from '../../src/core/error.ts'
import type { EngineConfig } from '../../src/model/engine-config.ts'
import { type Compute, compute, openCompute, type ThreadsChange } from '../features/compute/compute.ts'
import { openSchemas, schemas } from '../features/compute/schemas.ts'
import { firstPartyServices } from '../features/first-party/index.ts'
import type { Board, Engines } from '../features/first-party/service/engines.ts'
import type { FirstPartyService, JsonInput } from '../features/first-party/service/service.ts'
import type { FirstParty } from '../features/jobs/first-party.ts'
import type { Config } from '../kernel/config.ts'
import type { Context } from '../kernel/context.ts'
import { installation } from '../kernel/identity.ts'
import { openDns } from '../ports/dns/dns.ts'
import { builtIn, type Engine } from '../ports/engine.ts'
import { openTls } from '../ports/tls/tls.ts'
import { openRdap } from '../ports/upstream/rdap.ts'
import { openUpstream, type UpstreamOptions, upstreamEngine } from '../ports/upstream/upstream.ts'
import { reachOf } from '../ports/web/address.ts'
import { openWeb, type PublicWeb, type Web, type WebOptions } from '../ports/web/web.ts'

/** How names resolve, and places to which the rules about addresses do not apply. */
export type WebChange = Partial<Pick<WebOptions, 'resolve' | 'exempt'>>

/** All that leaves the daemon for places that others name goes through one fetcher. */
export function webOf(ctx: Context, change: WebChange = {}): Web {
  const { config, clock } = ctx
  return openWeb({ ownPort: installation.of(ctx).port, localWebhooks: isLocal(config), wall: clock.wall, ...change })
}

/** Threads for work that a stranger can make costly, and the schemas that are checked there. */
export function openThreads(ctx: Context, change?: ThreadsChange): void {
  const threads = openCompute(change)
  compute.open(ctx, threads, threads.close)
  schemas.open(ctx, openSchemas(threads))
}

/** Other engines than this machine has. */
export type EnginesChange = Partial<EngineSet>
type EngineSet = { readonly [N in keyof Engines]: Engine<Engines[N]> }

type Around = { readonly web: Web; readonly wall: () => number; readonly config: EngineConfig }

/** What this machine works with. */
export function enginesOf(around: Around): EngineSet {
  const { web, wall, config } = around
  const dns = openDns()
  return {
    dns: builtIn(dns, `asks ${dns.servers().join(', ') || 'nobody: this machine has no resolver'}`),
    rdap: builtIn(
      openRdap({ web, wall, ...(config.rdap ? { bootstrap: config.rdap.url } : {}) }),
      'asks the registry of each ending, when somebody buys',
    ),
    tls: builtIn(openTls({ resolve: web.resolve }), `OpenSSL ${process.versions.openssl}`),
    ...upstreamsOf(around),
  }
}

const OSV_BYTES = 8 * 1024 * 1024
const OSV_PER_MINUTE = 600
const GRANTS_BYTES = 4 * 1024 * 1024

/** Interfaces of others; those without a default are off until the operator names one. */
function upstreamsOf({ web, wall, config: { advisories, coins, grants, market, weather } }: Around) {
  const open = (options: Omit<UpstreamOptions, 'web' | 'wall'>) =>
    upstreamEngine(openUpstream({ web, wall, ...options }))
  const forecasts = { base: weather?.url, fix: 'weather.url in the engines file' }
  return {
    advisories: open({
      name: 'OSV',
      base: advisories?.url ?? 'https://api.osv.dev',
      maxBytes: OSV_BYTES,
      perMinute: OSV_PER_MINUTE,
      fix: 'advisories.url in the engines file',
    }),
    coins: open({
      name: 'CoinGecko',
      base: coins?.url,
      ...(coins?.key === undefined ? {} : { headers: { [`x-cg-${coins.plan}-api-key`]: coins.key } }),
      fix: 'coins.url in the engines file',
    }),
    grants: open({
      name: 'Grants.gov',
      base: grants?.url ?? 'https://api.grants.gov/v1/api',
      maxBytes: GRANTS_BYTES,
      fix: 'grants.url in the engines file',
    }),
    market: open({
      name: 'Twelve Data',
      base: market?.url,
      ...(market ? { headers: { authorization: `apikey ${market.key}` } } : {}),
      fix: 'market.url and market.key in the engines file',
    }),
    geocoding: open({ name: 'The geocoder', ...forecasts, base: weather?.geocoding_url }),
    weather: open({ name: 'Open-Meteo', ...forecasts }),
  }
}

type Means = {
  readonly web: PublicWeb
  readonly threads: Compute
  readonly engines: Board
  readonly wall: () => number
}

/** The services as the daemon runs them: each with the web at hand, its work on a thread, in turn with everyone else's. */
export function firstPartyOver(means: Means): (slug: string) => FirstParty | undefined {
  const { web, engines } = means
  return (slug) => {
    const service = firstPartyServices.get(slug)
    return (
      service && {
        lacking: () => engines.lacking(service.needs),
        check: (input) => service.check(input as JsonInput, { web, engines: engines.ports }), // JSON as it was sent
        run: (input, signal, who = slug) => runHere(service, means, { input: input as JsonInput, signal, who }), // the same
      }
    )
  }
}

type Asked = { readonly input: JsonInput; readonly signal: AbortSignal; readonly who: string }

/** A job may be begun right after a start, before anybody looked at the engines. */
async function runHere(
  service: FirstPartyService,
  { web, threads, engines, wall }: Means,
  { input, signal, who }: Asked,
) {
  const { slug, needs } = service
  await engines.ready
  const there = needs.filter((name) => engines.lacking([name]).length === 0)
  const ports = Object.fromEntries(there.map((name) => [name, engines.ports[name]]))
  try {
    return await service.run(input, signal, {
      web,
      now: wall,
      engines: ports,
      makeElsewhere: ({ source, signal: bounds }) =>
        threads.run('make', [slug, input, source], { who, signal: bounds }),
    })
  } catch (error) {
    if (error instanceof AppError && error.code !== 'input_invalid') engines.suspect(needs)
    throw error
  }
}

/** Only this machine can reach the marketplace: then, and only then, webhooks may lead to this machine (decisions §10). */
function isLocal({ host, publicUrl }: Config): boolean {
  const shown = publicUrl === undefined ? host : (URL.parse(publicUrl)?.hostname ?? '')
  return isLoopback(host) && isLoopback(shown)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || reachOf(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
