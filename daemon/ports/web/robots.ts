import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { WebError } from './error.ts'
import type { GetOptions, WebResponse } from './exchange.ts'
import { isAllowed, type RobotsRules, robotsRules } from './robots-rules.ts'
import type { WebTarget } from './target.ts'

/** Our product token in robots.txt. */
export const ROBOTS_AGENT = 'souk'

/** Number of bytes that are parsed; RFC 9309 requires at least this many. */
const MAX_ROBOTS_BYTES = 500 * 1024
const ROBOTS_TIMEOUT_MS = 5_000
const KEPT_MS = 24 * HOUR_MS
/** How long it is remembered that a robots.txt was unavailable. */
const UNAVAILABLE_KEPT_MS = 5 * MINUTE_MS
const MAX_SITES = 500
/** Limit of the cached rules of all sites; the oldest sites are dropped. */
const MAX_KEPT_CHARS = 32 * 1024 * 1024
/** Overhead per rule. */
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
 * Robots Exclusion Protocol (RFC 9309). A missing robots.txt allows everything, an unavailable robots.txt allows
 * nothing. Rules are cached for a day, within `MAX_SITES` and `MAX_KEPT_CHARS`.
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

  /** @throws WebError `robots_refused`, or why the site is unreachable */
  async function check(target: WebTarget, signal: AbortSignal): Promise<void> {
    const rules = await siteOf(target.url.origin).rules.catch(otherwise)
    signal.throwIfAborted()
    if (!isAllowed(rules, target.url)) {
      throw new WebError('robots_refused', 'The robots.txt of the site does not allow fetching this page.')
    }
  }

  return { check }
}

/** Text of a robots.txt, without a truncated last line, which could mean something else. */
function textOf({ body, truncated }: WebResponse): string {
  const text = body.toString('utf8')
  return truncated ? text.slice(0, text.lastIndexOf('\n') + 1) : text
}

/** Rules if robots.txt could not be fetched. A redirect loop counts as a missing file; other failures are thrown. */
function otherwise(error: unknown): RobotsRules {
  if (!(error instanceof WebError)) throw error
  if (error.failure === 'too_many_redirects') return NO_RULES
  if (error.isRefusal || error.wasNeverSent) throw error
  throw new WebError('robots_refused', UNREADABLE, { cause: error })
}
