import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rules for one crawler: for each canonical pattern, whether matching URLs are allowed. */
export type RobotsRules = ReadonlyMap<string, boolean>

/** Characters parsed per event loop turn. */
const CHARS_IN_A_TURN = 16 * 1024
const MAX_LINE_CHARS = 16 * 1024
/** Limit of comparisons per URL, some milliseconds of work; a URL that needs more is not allowed. */
const MAX_MATCH_STEPS = 20_000_000
const ANY = '*'
const END = '$'
const PRODUCT_TOKEN = /^[a-z_-]+/

type RuleGroup = { readonly rules: Map<string, boolean>; isKnown: boolean }

/**
 * Parses robots.txt (RFC 9309): groups that name the crawler are merged, else those of `*`.
 * @param agent product token, lower case
 */
export async function robotsRules(text: string, agent: string): Promise<RobotsRules> {
  const { take, rules } = openGroups(agent)
  let turnAt = CHARS_IN_A_TURN
  for (const { line, end } of linesOf(text)) {
    take(...recordOf(line))
    if (end < turnAt) continue
    await nextTurn()
    turnAt = end + CHARS_IN_A_TURN
  }
  return rules()
}

function openGroups(agent: string) {
  const own: RuleGroup = { rules: new Map(), isKnown: false }
  const others: RuleGroup = { rules: new Map(), isKnown: false }
  const open = new Set<RuleGroup>()
  let isInRules = true

  function beginGroup(name: string): void {
    if (isInRules) open.clear()
    isInRules = false
    if (name === ANY) open.add(others)
    // `Souk/1.0` names the crawler `souk`; `soukbot` does not.
    else if (PRODUCT_TOKEN.exec(name.toLowerCase())?.[0] === agent) open.add(own)
    for (const group of open) group.isKnown = true
  }

  return {
    /** Reads a record of the file; unknown records do not end a group. */
    take(key: string, value: string): void {
      if (key === 'user-agent') beginGroup(value)
      if (key !== 'allow' && key !== 'disallow') return
      isInRules = true
      if (value !== '') for (const { rules } of open) addRule(rules, value, key === 'allow')
    },
    rules: () => (own.isKnown ? own.rules : others.rules),
  }
}

/** Adds a rule. If equal patterns conflict, allow wins. */
function addRule(rules: Map<string, boolean>, pattern: string, allows: boolean): void {
  const canonical = canonicalPattern(pattern)
  rules.set(canonical, allows || rules.get(canonical) === true)
}

function* linesOf(text: string): Generator<{ readonly line: string; readonly end: number }> {
  const ends = /[\r\n]|$/g
  for (let from = text.startsWith('\ufeff') ? 1 : 0; from < text.length; from = ends.lastIndex) {
    ends.lastIndex = from
    const end = ends.exec(text)?.index ?? text.length
    yield { line: text.slice(from, Math.min(end, from + MAX_LINE_CHARS)), end }
    ends.lastIndex = end + 1
  }
}

/** Name and value in a line, without its comment. */
function recordOf(line: string): [key: string, value: string] {
  const comment = line.indexOf('#')
  const record = comment < 0 ? line : line.slice(0, comment)
  const colon = record.indexOf(':')
  return colon < 0 ? ['', ''] : [record.slice(0, colon).trim().toLowerCase(), record.slice(colon + 1).trim()]
}

/** Whether a URL is allowed: the longest pattern wins, allow on a tie (RFC 9309, 2.2.2). */
export function isAllowed(rules: RobotsRules, { pathname, search }: Pick<URL, 'pathname' | 'search'>): boolean {
  if (pathname === '/robots.txt') return true
  const path = canonical(`${pathname}${search}`)
  let steps = 0
  let [longest, verdict] = [-1, true]
  for (const [pattern, allows] of rules) {
    const octets = octetsOf(pattern)
    if (octets < longest || (octets === longest && !allows) || !path.startsWith(headOf(pattern))) continue
    // Upper bound of the comparisons that a pattern needs after its literal prefix.
    steps += pattern.includes(ANY) ? pattern.length * path.length : 0
    if (steps > MAX_MATCH_STEPS) return false
    if (matches(pattern, path)) [longest, verdict] = [octets, allows]
  }
  return verdict
}

/** Literal prefix of a pattern. */
function headOf(pattern: string): string {
  const wild = pattern.indexOf(ANY)
  if (wild >= 0) return pattern.slice(0, wild)
  return pattern.endsWith(END) ? pattern.slice(0, -1) : pattern
}

/** Whether a pattern matches. It suffices to take the first match of each part between wildcards. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith(END)
  const [head = '', ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split(ANY)
  const last = isWhole ? parts.pop() : undefined
  let at = head.length
  for (const part of parts) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  if (!isWhole) return true
  if (last === undefined) return path.length === at
  return path.length - last.length >= at && path.endsWith(last)
}

/** Length of a pattern, in which a percent-encoded octet counts as one. */
function octetsOf(pattern: string): number {
  let escapes = 0
  for (let at = pattern.indexOf('%'); at >= 0; at = pattern.indexOf('%', at + 1)) escapes += 1
  return pattern.length - 2 * escapes
}

const UNRESERVED = /^[A-Za-z0-9_.~-]$/
const NOT_UNRESERVED = /%[\dA-Fa-f]{2}|[^A-Za-z0-9_.~-]/gu
const escapes: readonly string[] = Array.from(
  { length: 256 },
  (_, octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
)

/**
 * Canonical form for comparison (RFC 9309, 2.2.2; RFC 3986, 2.2): unreserved characters plain, others percent-encoded
 * in upper case.
 */
function canonical(text: string): string {
  return text.replace(NOT_UNRESERVED, (found) => {
    if (found.length < 3) return encoded(found)
    const octet = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return UNRESERVED.test(octet) ? octet : found.toUpperCase()
  })
}

function encoded(character: string): string {
  const ascii = character < '\u0080' ? escapes[character.charCodeAt(0)] : undefined
  return ascii ?? [...Buffer.from(character.toWellFormed())].map((octet) => escapes[octet]).join('')
}

/** Canonical form of a pattern, where `*` and a final `$` are special; `%2A` and `%24` are literal. */
function canonicalPattern(pattern: string): string {
  const isWhole = pattern.endsWith(END)
  const parts = (isWhole ? pattern.slice(0, -1) : pattern).split(/\*+/)
  return `${parts.map(canonical).join(ANY)}${isWhole ? END : ''}`
}
