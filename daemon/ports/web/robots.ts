import robotsParser from 'robots-parser'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { WebError } from './error.ts'
import type { GetOptions, WebResponse } from './exchange.ts'
import type { WebTarget } from './target.ts'

// The package is a plain function, while its types describe an ES module with a default.
const parse = robotsParser as unknown as typeof robotsParser.default

/** Product token under which sites name this daemon in robots.txt. */
export const ROBOTS_AGENT = 'souk'

/** Parsed up to here, as RFC 9309 asks for at least. */
const MAX_ROBOTS_BYTES = 500 * 1024
const ROBOTS_TIMEOUT_MS = 5_000
const KEPT_MS = 24 * HOUR_MS
/** A site that could not say is asked again soon. */
const UNAVAILABLE_KEPT_MS = 5 * MINUTE_MS
const MAX_SITES = 500
const TOO_MANY_REQUESTS = 429
/** Characters of patterns with wildcards times characters of a URL: what matching may cost, a few milliseconds. */
const MAX_MATCH_STEPS = 20_000_000

const UNREADABLE = 'The robots.txt of the site cannot be read, so nothing is fetched from it.'

type Verdict = (url: string) => boolean
type Site = { readonly verdict: Promise<Verdict>; until: number }

type RobotsOptions = {
  readonly get: (url: string, options: GetOptions) => Promise<WebResponse>
  readonly wall: () => number
}

/**
 * The Robots Exclusion Protocol (RFC 9309): no such file allows everything, a server that fails or is silent allows
 * nothing. What a site said is kept for a day, for at most `MAX_SITES` sites.
 */
export function openRobots({ get, wall }: RobotsOptions) {
  const sites = new Map<string, Site>()

  function siteOf(origin: string): Site {
    const known = sites.get(origin)
    sites.delete(origin)
    const site = known && wall() < known.until ? known : ask(origin)
    sites.set(origin, site)
    for (const oldest of sites.keys()) {
      if (sites.size <= MAX_SITES) break
      sites.delete(oldest)
    }
    return site
  }

  function ask(origin: string): Site {
    const site: Site = { verdict: fetchVerdict(origin), until: wall() + KEPT_MS }
    site.verdict.catch((error: unknown) => {
      const mayBeBackAtOnce = error instanceof WebError && error.wasNeverSent
      site.until = mayBeBackAtOnce ? 0 : wall() + UNAVAILABLE_KEPT_MS
    })
    return site
  }

  async function fetchVerdict(origin: string): Promise<Verdict> {
    const file = `${origin}/robots.txt`
    const answer = await get(file, { maxBytes: MAX_ROBOTS_BYTES, truncate: true, timeoutMs: ROBOTS_TIMEOUT_MS })
    if (answer.status >= 200 && answer.status < 300) return verdictOf(file, answer.body.toString('utf8'))
    if (answer.status < 500 && answer.status !== TOO_MANY_REQUESTS) return () => true
    throw new WebError('robots_refused', UNREADABLE)
  }

  /** @throws WebError robots_refused, or why the site cannot be reached at all. */
  async function check(target: WebTarget, signal: AbortSignal): Promise<void> {
    const verdict = await siteOf(target.url.origin).verdict.catch(otherwise)
    signal.throwIfAborted()
    if (!verdict(target.url.href)) {
      throw new WebError('robots_refused', 'The robots.txt of the site does not allow this page to be fetched.')
    }
  }

  return { check }
}

function verdictOf(file: string, text: string): Verdict {
  const rules = parse(file, text)
  const wildcardChars = text.split('\n').reduce((sum, line) => sum + (line.includes('*') ? line.length : 0), 0)
  return (url) => wildcardChars * url.length <= MAX_MATCH_STEPS && (rules.isAllowed(url, ROBOTS_AGENT) ?? true)
}

/**
 * A site that keeps silent about robots.txt is left alone, one that sends the question round in circles has none; one
 * that cannot be reached, or must not be, is named as such.
 */
function otherwise(error: unknown): Verdict {
  if (!(error instanceof WebError)) throw error
  if (error.failure === 'too_many_redirects') return () => true
  if (error.isRefusal || error.wasNeverSent) throw error
  throw new WebError('robots_refused', UNREADABLE, { cause: error })
}
