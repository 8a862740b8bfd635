import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { WebError } from './error.ts'
import type { GetOptions, WebResponse } from './exchange.ts'
import { isAllowed, type RobotsRules, robotsRules } from './robots-rules.ts'
import type { WebTarget } from './target.ts'

/** Product token under which sites name this daemon in robots.txt. */
export const ROBOTS_AGENT = 'souk'

/** Parsed up to here, as RFC 9309 asks for at least. */
const MAX_ROBOTS_BYTES = 500 * 1024
const ROBOTS_TIMEOUT_MS = 5_000
const KEPT_MS = 24 * HOUR_MS
/** A site that could not say is asked again soon. */
const UNAVAILABLE_KEPT_MS = 5 * MINUTE_MS
const MAX_SITES = 500
/** Of the rules of all sites together; the oldest sites make room. */
const MAX_KEPT_CHARS = 32 * 1024 * 1024
/** What a rule takes beside its characters. */
const RULE_CHARS = 64
const TOO_MANY_REQUESTS = 429

const UNREADABLE = 'The robots.txt of the site cannot be read, so nothing is fetched from it.'

const NO_RULES: RobotsRules = new Map()

type Site = { readonly rules: Promise<RobotsRules>; until: number; kept: number }

type RobotsOptions = {
  readonly get: (url: string, options: GetOptions) => Promise<WebResponse>
  readonly wall: () => number
}

/**
 * The Robots Exclusion Protocol (RFC 9309): no such file allows everything, a server that fails or is silent allows
 * nothing. What a site said is kept for a day, for at most `MAX_SITES` sites and `MAX_KEPT_CHARS`.
 */
export function openRobots({ get, wall }: RobotsOptions) {
  const sites = new Map<string, Site>()

  function siteOf(origin: string): Site {
    const known = sites.get(origin)
    sites.delete(origin)
    const site = known && wall() < known.until ? known : ask(origin)
    sites.set(origin, site)
    makeRoom()
    return site
  }

  function makeRoom(): void {
    let kept = [...sites.values()].reduce((sum, site) => sum + site.kept, 0)
    for (const [oldest, site] of sites) {
      if (sites.size <= MAX_SITES && (kept <= MAX_KEPT_CHARS || sites.size === 1)) break
      sites.delete(oldest)
      kept -= site.kept
    }
  }

  function ask(origin: string): Site {
    const site: Site = { rules: fetchRules(origin), until: wall() + KEPT_MS, kept: 0 }
    site.rules.then(
      (rules) => {
        for (const pattern of rules.keys()) site.kept += pattern.length + RULE_CHARS
        makeRoom()
      },
      (error: unknown) => {
        const mayBeBackAtOnce = error instanceof WebError && error.wasNeverSent
        site.until = mayBeBackAtOnce ? 0 : wall() + UNAVAILABLE_KEPT_MS
      },
    )
    return site
  }

  async function fetchRules(origin: string): Promise<RobotsRules> {
    const file = `${origin}/robots.txt`
    const answer = await get(file, { maxBytes: MAX_ROBOTS_BYTES, truncate: true, timeoutMs: ROBOTS_TIMEOUT_MS })
    if (answer.status >= 200 && answer.status < 300) return robotsRules(textOf(answer), ROBOTS_AGENT)
    if (answer.status < 500 && answer.status !== TOO_MANY_REQUESTS) return NO_RULES
    throw new WebError('robots_refused', UNREADABLE)
  }

  /** @throws WebError robots_refused, or why the site cannot be reached at all. */
  async function check(target: WebTarget, signal: AbortSignal): Promise<void> {
    const rules = await siteOf(target.url.origin).rules.catch(otherwise)
    signal.throwIfAborted()
    if (!isAllowed(rules, target.url)) {
      throw new WebError('robots_refused', 'The robots.txt of the site does not allow this page to be fetched.')
    }
  }

  return { check }
}

/** A line that was cut off says something else than its whole: it is left out. */
function textOf({ body, truncated }: WebResponse): string {
  const text = body.toString('utf8')
  return truncated ? text.slice(0, text.lastIndexOf('\n') + 1) : text
}

/**
 * A site that keeps silent about robots.txt is left alone, one that sends the question round in circles has none; one
 * that cannot be reached, or must not be, is named as such.
 */
function otherwise(error: unknown): RobotsRules {
  if (!(error instanceof WebError)) throw error
  if (error.failure === 'too_many_redirects') return NO_RULES
  if (error.isRefusal || error.wasNeverSent) throw error
  throw new WebError('robots_refused', UNREADABLE, { cause: error })
}
