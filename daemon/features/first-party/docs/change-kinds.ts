/** What a change requires of users. */
export type ActionKind = 'removal' | 'security' | 'breaking' | 'auth' | 'deprecation' | 'limits'
export type ChangeKind = ActionKind | 'addition' | 'fix'
/** Meaning of a changelog section; `other` is irrelevant to users. */
type Section = 'removal' | 'security' | 'breaking' | 'deprecation' | 'changed' | 'addition' | 'fix' | 'other'

/** Patterns of section headings, as in Keep a Changelog, Conventional Commits and changesets; the first match wins. */
const sections: readonly (readonly [Section, RegExp])[] = [
  ['breaking', /\bbreaking\b|compatib|\bmigrat|\bupgrad|deprecat.*remov|remov.*deprecat/],
  ['removal', /^remov/],
  ['deprecation', /^deprecat/],
  ['security', /^security/],
  ['fix', /\bfix|\bbug|regression|spec compliance/],
  [
    'other',
    /\b(chores?|misc\w*|internal|nightly|unstable|experimental|distributors?|packagers?|docs?|documentation|tests?|ci|builds?|dep\w*|contribut\w+|refactor\w*|styles?|maintenance|polish|perf\w*|readme|meta|actions|robustness|tooling|examples?)\b/,
  ],
  ['changed', /^change/],
  ['addition', /\b(feat\w*|add\w*|new|enhancements?|improve\w*)\b/],
]

const TAGS =
  'deprecated|removed|changed?|features?|enhancements?|security|bugs?|tests?|readme|meta|docs?|dev deps|deps|refactor|actions|chore|ci|build|style|perf|robustness|fix|bug ?fix|feat|new|internal|tooling|examples?'
const SCOPE = String.raw`[\w\s/.@\x60,-]{1,40}:\*{0,2}\s+`
/** Prefixes of changelog lines, such as `[Fix] `, `fix(parser)!: `, `**api:** `, `Thanks @somebody! - `. */
const PREFIX = new RegExp(
  String.raw`^[^\w\[]*(?:\[(${TAGS})\]:?\s*(?:${SCOPE})?|(${TAGS})(?:\([^)]{0,40}\))?(!)?:\s+|${SCOPE}|[^!\n]{0,120}\bThanks @[^!\n]{1,80}! - (?:${SCOPE})?)?`,
  'i',
)

const LOUD =
  /\bBREAKING\b|\b[Ss][Ee][Mm][Vv][Ee][Rr]-[Mm][Aa][Jj][Oo][Rr]\b|\b[Bb]reaking [Cc]hange\b|^\W*\[?[Bb]reaking\b/
/** A break that is undone, or that there is none. */
const UNDONE =
  /\b(?:fix(?:e[sd])?|revert\w*|undo\w*|avoid\w*|no|not an?)\b:?(?: [\w`'-]+){0,4} breaking changes?\b(?!:)/i
const SECURITY =
  /\bCVE[- ]\d{4}[- ]\d+|\bvulnerabilit(?:y|ies)\b|\bsecurity (?:fix|issue|release|patch|advisory)|\(security\)|\bimproves? security\b|\b(?:RCE|XSS|SSRF|ReDoS|prototype pollution)\b|\bexploit/i
const FUTURE =
  /\b(?:will be|we will|scheduled (?:for|to be)|is to be|going to be) (?:remov|retir|discontinu|sunset|shut|chang|phased out)/i
const DEPRECATED =
  /(?<!\bun-?|\bbeing |\bfrom )\bdeprecat(?:e|ed|es|ing|ion of)\b(?! (?:warning|notice|option|use|code|call|api|method)s?\b(?! names))/i
const GOING =
  /\b(?:going away|end[- ]of[- ](?:life|support)|(?:is|are) (?:being )?(?:sunset|retired|shut down|discontinued)|sunset(?:ting)? of)\b/i

/** Words that mark an internal change, which is irrelevant to callers. */
const INWARD =
  /\b(?:dependenc(?:y|ies)|dep|workarounds?|unnecessary|superfluous|spurious|useless|unused|outdated|duplicates?|redundant|obsolete|polyfill|tests?|(?<![#!.([-])docs?|documentation|readme|badges?|comments?|logs?|restriction|limitation|internal|template|example|typos?|sidebar|website|screenshots?|changelog|brewfile|github|travis|lint\w*)\b/i
const PATH = /(?:^|[\s`])\/[\w{]/
const REMOVES =
  /^(?:support (?:for )?.{1,80} (?:is|was|has been) (?:removed|dropped)|remov(?:e[ds]?|ing|al of)|drop(?:s|ped|ping)?(?! ?down)|delete[ds]?|discontinu|retire[ds]?|we (?:are|have|will) (?:dropp|remov|retir|sunset|shut)\w*)\b/i
const REMOVED =
  /\b(?:(?:has|have) been|was|were|is|are|be) (?:now )?(?:removed|dropped|retired|deleted|discontinued)\b|\bremoved from the (?:api|response|request)|\bno longer (?:available|supported|accept(?:s|ed)?|returns?|returned|works?|exposed?|exported|included)\b/i
/** Words that concern callers, even in a line that also names something internal. */
const ENDS_SUPPORT = /\b(?:drop(?:s|ped|ping)?|remov\w+) support\b/i
const REPLACED = /\b(?:removed|dropped) (?:and|in favou?r)\b/i
const NO_LONGER = /\bno longer\b/i
/** A change that only allows more. */
const RELAXES =
  /\bcan now\b|\bnow (?:also |correctly )?(?:accept|support|allow|work|handle)s?\b|\bno longer (?:required|needed|necessary|mandatory)\b|\bis now optional\b/i
/** A fault that no longer occurs, which is a fix. */
const FAULT_GONE =
  /\b(?:no longer|should not)\b[^.]{0,60}\b(?:crash\w*|errors?|hangs?|fail\w*|caus\w+|trigger\w*|leads? to|interfer\w*|breaks?|prevents?|interrupt\w*|flicker\w*|wrong\w*|incorrect\w*|erroneous\w*|excessive|infinite|zombie)\b/i
/** Words that state an obligation, or what now fails. They count in any section. */
const OBLIGES =
  /\bmust now\b|\bwill be enforced\b|\bnow (?:requires?|throws?|rejects?|forbidden|an? (?:\w+ )?error)\b|\b(?:is|are) now (?:required|an? reserved)|\b(?:now (?:emits?|gives?|reports?)|produces?) an error (?:for|if|when)\b|\bchang\w+ (?:the )?(?:meaning|behaviou?r)\b|\b(?:has|have) no effect\b|\bincompatible\b|\bnot (?:be )?backwards?[- ]compatible|\bminimum\b.{0,40}\bversion\b.{0,40}\bis\b|^starting (?:on|in|from)\b.*\bwill\b|\b(?:before|after) upgrading\b|\brecommend\b.{0,80}\bupgrad|\byou (?:may|will|must|should) (?:need|have) to (?:update|make|change|migrate|switch|replace|adapt)|\bwe (?:will )?(?:no longer|stop)\b|\bno longer (?:available|supported|works|possible)\b|\b(?:get|restore) the (?:old|previous) behaviou?r\b|\bexit (?:status|code)\b.{0,40}\binstead of\b/i
const BREAKS =
  /^renam(?:e[ds]?|ing)\b|\brenamed\b|\bbackwards?[- ]incompatible|\bincompatible\b|\bmust now\b|\bnow (?:requires?|throws?|rejects?|returns?|defaults?|uses? .{1,40} by default)|\breturn(?:s|ed)\b.{0,60}\b(?:instead of|rather than)\b|\b(?:event|field|attribute|parameter|property|header)s? (?:is|are) now\b|\b(?:is|are) now required\b|\brequires? (?:node|python|ruby|java|php|go)\b|\bminimum\b.{0,40}\b(?:version|is)\b|\bpure esm\b|\besm[- ]only\b|\btype changes?\b|^chang(?:e[ds]?|ing)\b.{0,120}\b(?:type|format|default|response|behaviou?r|options|from\b.{1,80}\bto)\b|^default\b.{1,60}\bto\b|^(?:lower|raise|reduce|increase)[ds]? (?:the )?default|\bdefault\b.{0,60}\b(?:changed|is now|are now)\b|\bdon't\b.{0,80}\bby default\b|\bexcluded by default\b|\bnow\b.{0,60}\bby default\b|\binstead of\b.{0,60}\bnow\b|\bmark\b.{0,200}\bas required\b/i
const MOVES =
  /\b(?:must|requires?d?|now|instead|no longer|only|migrat\w+|replac\w+|rotat\w+|expir\w+|chang\w+|lower\w*|reduc\w+|rais\w+|increas\w+|new|from \d\S* to \d)\b/i
const AUTH =
  /\b(?:authentication|authorization|oauth|api[- ]keys?|(?:access|api|auth|bearer|refresh) tokens?|tokens? (?:now )?expir\w+|scopes?|credentials?)\b/i
const LIMITS = /\b(?:rate[- ]limit(?:s|ed|ing)?|quotas?|throttl\w+|limits? (?:is|are|of|has|have|for))\b/i

const FIXES =
  /^(?:fix(?:e[ds])?|bug ?fix(?:es)?|quick ?(?:bug)?fix|correct(?:ed|s)?|resolve[ds]?|restore[ds]?|prevent(?:ed|s)?|avoid(?:ed|s)?|handle[ds]?|revert(?:ed|s)?|ensure[ds]?)\b/i
const ADDS =
  /^(?:add(?:ed|s)?|introduc(?:e[ds]?|ing)|new|allow(?:ed|s)?|support(?:s|ed)?|enable[ds]?|include[ds]?|improv\w+|export(?:ed|s)?)\b/i

/** Kind of change of a line. @param isMarked whether the log marks its breaking changes, so that other lines break nothing */
export function kindOf(line: string, heading: string, isMarked = false): ChangeKind | undefined {
  const { section, words, isLoud } = readingOf(line, heading)
  if (SECURITY.test(line) && sectionOf(heading) !== 'other') return 'security'
  if (isLoud) return 'breaking'
  if (section === 'breaking') return RELAXES.test(words) ? 'addition' : breakingAs(words)
  if (section === 'removal' || section === 'deprecation' || section === 'security') return section
  return isQuiet(words, section) ? 'fix' : asWritten(words, { section, isMarked })
}

/** Whether a line is marked as breaking, by itself or by the heading above. */
export function isMarkedBreaking(line: string, heading: string): boolean {
  const { section, isLoud } = readingOf(line, heading)
  return isLoud || section === 'breaking' || section === 'removal' || section === 'deprecation'
}

function readingOf(line: string, heading: string) {
  const [prefix = '', bracketed, written, bang] = PREFIX.exec(line) ?? []
  const above = sectionOf(heading)
  const own = sectionOf(bracketed ?? written ?? '')
  const isOwn = own !== undefined && (bracketed !== undefined || /^(?:fix|other|deprecation|removal)$/.test(own))
  const told = bracketed !== undefined && own === 'changed' ? 'breaking' : own
  return {
    section: isOwn && above !== 'breaking' && above !== 'removal' && above !== 'deprecation' ? told : above,
    words: line.slice(prefix.length),
    isLoud: bang !== undefined || (LOUD.test(line) && !UNDONE.test(line)),
  }
}

const MENDED = /\b(?:has|have) been (?:fixed|corrected|restored|resolved)\b|\bis now fixed\b/i

function isQuiet(words: string, section: Section | undefined): boolean {
  return section === 'other' || section === 'fix' || FIXES.test(words) || MENDED.test(words) || isOnPaper(words)
}

/** What the lines below a heading are. */
export function sectionOf(heading: string): Section | undefined {
  const plain = heading
    .toLowerCase()
    .replace(/[^a-z ]/g, '')
    .trim()
  return sections.find(([, words]) => words.test(plain))?.[0]
}

function breakingAs(words: string): ChangeKind {
  if (FUTURE.test(words) || DEPRECATED.test(words)) return 'deprecation'
  return isRemoval(words) ? 'removal' : 'breaking'
}

/** A clause that names an occasion, such as: when the current folder is removed. */
const OCCASION = /\b(?:when|if|while|once|after|because|which)\b[^,.;]*/gi

function isRemoval(words: string): boolean {
  return REMOVES.test(words) || ENDS_SUPPORT.test(words) || REMOVED.test(words.replace(OCCASION, ''))
}

/** Whether a line is about documentation only. */
function isOnPaper(words: string): boolean {
  return (
    /\b(?:(?<![#!.([-])docs?|documentation|readme|typos?|sidebar|changelog|website|screenshots?)\b/i.test(words) &&
    !PATH.test(words) &&
    !ENDS_SUPPORT.test(words)
  )
}

/** An explanation, which does not say what has changed. */
const AFTER_DASH = / [-–—] .*/

type Says = (words: string) => boolean
type Reading = { readonly kind: ActionKind /** Says so in any section. */; readonly states?: Says; readonly says: Says }
/** First match wins. An announced change counts as a deprecation. */
const readings: readonly Reading[] = [
  { kind: 'deprecation', states: (words) => FUTURE.test(words) || DEPRECATED.test(words), says: () => false },
  {
    kind: 'removal',
    states: (words) =>
      GOING.test(words) || ENDS_SUPPORT.test(words) || REPLACED.test(words) || (PATH.test(words) && isRemoval(words)),
    says: (words) => isRemoval(words),
  },
  {
    kind: 'breaking',
    states: (words) => OBLIGES.test(words),
    says: (words) => BREAKS.test(words) || (NO_LONGER.test(words) && !FAULT_GONE.test(words)),
  },
  { kind: 'auth', says: (words) => AUTH.test(words) && MOVES.test(words) },
  { kind: 'limits', says: (words) => LIMITS.test(words) && MOVES.test(words) },
]

type Place = { readonly section: Section | undefined; readonly isMarked: boolean }

/** Kind of change by the words of a line; undefined if the words do not show it. */
function asWritten(words: string, { section, isMarked }: Place): ChangeKind | undefined {
  if (ADDS.test(words)) return addedAs(words)
  const isInward = INWARD.test(words.replace(AFTER_DASH, '')) && !PATH.test(words) && !ENDS_SUPPORT.test(words)
  const mayBreak = (!isMarked || section === 'changed') && !isInward && !RELAXES.test(words)
  const reading = readings.find(
    ({ kind, states, says }) => (states?.(words) && (!isInward || kind === 'deprecation')) || (mayBreak && says(words)),
  )
  return reading?.kind ?? (section === 'addition' || RELAXES.test(words) ? 'addition' : undefined)
}

/** Kind of change for a line that adds something. The line may also announce a new requirement or a deprecation. */
function addedAs(words: string): ChangeKind {
  if (FUTURE.test(words) || /^add(?:ed|s)? (?:a )?deprecation/i.test(words)) return 'deprecation'
  return OBLIGES.test(words) ? 'breaking' : 'addition'
}
