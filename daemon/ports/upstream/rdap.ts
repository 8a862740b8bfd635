import { z } from 'zod'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Reached } from '../engine.ts'
import { WebError } from '../web/error.ts'
import type { WebResponse } from '../web/exchange.ts'
import type { Web } from '../web/web.ts'
import { readJson, UpstreamError } from './upstream.ts'

/** Domain registration data (RFC 9083) from the registries. */
export type Rdap = {
  /** Looks up a domain; undefined if not registered. @throws UpstreamError (`asker` for a TLD without a registry) */
  readonly domain: (name: string, signal: AbortSignal) => Promise<DomainRegistration | undefined>
  /** Requests the registry list. */
  readonly reach: (signal: AbortSignal) => Promise<Reached>
}

export type DomainRegistration = ReturnType<typeof registrationOf>

/** RFC 9224: `[[TLDs], [addresses]]`. */
const Bootstrap = z.object({
  services: z.array(z.tuple([z.array(z.string().max(80)), z.array(z.string().max(300))])).max(2_000),
})
type Bootstrap = z.infer<typeof Bootstrap>

const Entity = z.object({
  roles: z.array(z.string()).optional(),
  vcardArray: z.tuple([z.string(), z.array(z.array(z.unknown()).max(20)).max(100)]).optional(),
})
const DatedEvent = z.object({ eventAction: z.string(), eventDate: z.string().max(60) })
const NameServer = z.object({ ldhName: z.string().max(253).optional() })
const DomainObject = z.object({
  ldhName: z.string().optional(),
  status: z.array(z.string().max(100)).max(50).optional(),
  events: z.array(DatedEvent).max(100).optional(),
  entities: z.array(Entity).max(100).optional(),
  nameservers: z.array(NameServer).max(50).optional(),
})

/** Size limit of an answer. Registries send far less. An answer of this size is still parsed quickly. */
const MAX_BYTES = 128 * 1024
const TIMEOUT_MS = 8_000
const MAX_REGISTRAR_CHARS = 200
const NOT_FOUND = 404
const OK = 200

/** IANA's registry list. */
export const IANA_BOOTSTRAP = 'https://data.iana.org/rdap/dns.json'
/** Size limit of the registry list, about twice its current size. */
const BOOTSTRAP_MAX_BYTES = 256 * 1024
const BOOTSTRAP_KEPT_MS = DAY_MS
/** Registries of the largest TLDs, in case the list cannot be read. */
const largest: Bootstrap['services'] = [
  [['com'], ['https://rdap.verisign.com/com/v1/']],
  [['net'], ['https://rdap.verisign.com/net/v1/']],
  [['org'], ['https://rdap.publicinterestregistry.org/rdap/']],
]

type Bases = ReadonlyMap<string, string>
type RdapOptions = {
  readonly web: Pick<Web, 'get' | 'ask'>
  readonly wall: () => number
  /** Registry list address. */
  readonly bootstrap?: string
}

export function openRdap({ web, wall, bootstrap = IANA_BOOTSTRAP }: RdapOptions): Rdap {
  let known: { readonly bases: Bases; readonly until: number } | undefined

  /** Like other interfaces that the operator names, the list may stand anywhere. */
  async function list(signal: AbortSignal): Promise<WebResponse> {
    const headers = { accept: 'application/json' }
    const bounds = { maxBytes: BOOTSTRAP_MAX_BYTES, timeoutMs: TIMEOUT_MS, signal }
    return web.ask({ url: bootstrap, headers, ...bounds }).catch((cause) => {
      throw new UpstreamError('broken', 'The list of registries could not be reached.', { cause })
    })
  }

  async function bases(signal: AbortSignal): Promise<Bases> {
    if (known && wall() < known.until) return known.bases
    try {
      const answer = await list(signal)
      known = { bases: basesOf(Bootstrap.parse(readJson(answer.body)).services), until: wall() + BOOTSTRAP_KEPT_MS }
      return known.bases
    } catch (error) {
      if (signal.aborted) throw error
      return known?.bases ?? basesOf(largest) // an old list is better than none
    }
  }

  return {
    domain: async (name, signal) => {
      const base = longestOf(await bases(signal), name)
      if (base === undefined) throw new UpstreamError('asker', 'This top-level domain has no public registration data.')
      const url = `${base.replace(/\/?$/, '/')}domain/${name}`
      const answer = await asked(web, url, { signal, maxBytes: MAX_BYTES })
      if (answer.status === NOT_FOUND) return undefined
      if (answer.status !== OK) throw new UpstreamError('busy', 'The registry did not answer the query.')
      return registrationOf(answer)
    },
    reach: async (signal) => {
      const { status } = await list(signal)
      const ok = status === OK
      return { ok, detail: `The list of registries ${ok ? 'can be read' : `cannot be read: HTTP ${status}`}.` }
    },
  }
}

function basesOf(services: Bootstrap['services']): Bases {
  return new Map(
    services.flatMap(([endings, urls]) => {
      const base = urls.find((url) => url.startsWith('https:')) ?? urls[0]
      return base === undefined ? [] : endings.map((ending) => [ending.toLowerCase(), base] as const)
    }),
  )
}

/** Address of the registry for a domain name. The longest suffix that has a registry decides. */
function longestOf(bases: Bases, name: string): string | undefined {
  const labels = name.split('.')
  return labels.map((_, at) => bases.get(labels.slice(at).join('.'))).find((base) => base !== undefined)
}

type Bounds = { readonly signal: AbortSignal; readonly maxBytes: number }

async function asked(web: Pick<Web, 'get'>, url: string, bounds: Bounds): Promise<WebResponse> {
  try {
    const accept = 'application/rdap+json, application/json'
    return await web.get(url, { accept, ignoreRobots: true, timeoutMs: TIMEOUT_MS, ...bounds })
  } catch (error) {
    if (!(error instanceof WebError) || error.failure === 'aborted') throw error
    throw new UpstreamError('broken', 'The registry could not be reached.', { cause: error })
  }
}

function registrationOf({ body }: WebResponse) {
  const parsed = DomainObject.safeParse(readJson(body))
  if (!parsed.success) {
    throw new UpstreamError('broken', 'The registry sent an unexpected response.', { cause: parsed.error })
  }
  const { status = [], events = [], entities = [], nameservers = [] } = parsed.data
  const dateOf = (action: string) => events.find(({ eventAction }) => eventAction === action)?.eventDate ?? null
  return {
    registrar:
      entities
        .filter(({ roles }) => roles?.includes('registrar'))
        .map(nameOf)
        .find((name) => name !== null) ?? null,
    registered_at: dateOf('registration'),
    expires_at: dateOf('expiration'),
    status,
    nameservers: nameservers.flatMap(({ ldhName }) => ldhName?.toLowerCase() ?? []),
  }
}

/** Name in a jCard: `["fn", {}, "text", "Name"]` (RFC 7095). */
function nameOf({ vcardArray }: z.infer<typeof Entity>): string | null {
  const name = vcardArray?.[1].find(([key]) => key === 'fn')?.[3]
  return typeof name === 'string' ? name.slice(0, MAX_REGISTRAR_CHARS) : null
}
