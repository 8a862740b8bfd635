/** What a change requires of users. */
export type ActionKind = 'removal' | 'security' | 'breaking' | 'auth' | 'deprecation' | 'limits'
export type ChangeKind = ActionKind | 'addition' | 'fix'
/** Meaning of a changelog section; `other` is irrelevant to users. */
type Section = 'removal' | 'security' | 'breaking' | 'deprecation' | 'addition' | 'fix' | 'other'

/** Patterns of section headings, as in Keep a Changelog, Conventional Commits and changesets; the first match wins. */
const sections: readonly (readonly [Section, RegExp])[] = [
  ['breaking', /\bbreaking\b|incompatib|\bmigrat|\bupgrad|\bnotable changes?\b/],
  ['removal', /^remov/],
  ['deprecation', /^deprecat/],
  ['security', /^security/],
  ['fix', /\bfix|\bbug|regression|spec compliance/],
  [
    'other',
    /\b(chores?|misc\w*|internal|docs?|documentation|tests?|ci|builds?|dependenc\w+|contribut\w+|refactor\w*|styles?|maintenance|polish|performance)\b/,
  ],
  ['addition', /\b(feat\w*|add\w*|new|enhancements?|improve\w*)\b/],
]

const TAGS =
  'tests?|readme|meta|docs?|dev deps|deps|refactor|actions|chore|ci|build|style|perf|robustness|fix|bug ?fix|feat|new|internal|tooling|examples?'
/** Prefixes of changelog lines, such as `[Fix] `, `fix(parser)!: `, `**api:** `, `Thanks @somebody! - `. */
const PREFIX = new RegExp(
  String.raw`^\W*(?:\[(${TAGS})\]\s*|(${TAGS})(?:\([^)]{0,40}\))?(!)?:\s+|[\w\s/.@,-]{1,40}:\*{0,2}\s+|[^!\n]{0,120}\bThanks @[^!\n]{1,80}! - (?:[\w\s/.@` +
    '`' +
    String.raw`,-]{1,40}:\s+)?)?`,
  'i',
)
const QUIET =
  /^(tests?|readme|meta|docs?|dev deps|deps|refactor|actions|chore|ci|build|style|perf|internal|tooling|example)/i

const LOUD =
  /\bBREAKING\b|\b[Ss][Ee][Mm][Vv][Ee][Rr]-[Mm][Aa][Jj][Oo][Rr]\b|\b[Bb]reaking [Cc]hange\b|^\W*\[?[Bb]reaking\b/
const SECURITY =
  /\bCVE[- ]\d{4}[- ]\d+|\bvulnerabilit(?:y|ies)\b|\bsecurity (?:fix|issue|release|patch|advisory)|\bexploit/i
const FUTURE = /\b(?:will be|scheduled (?:for|to be)|is to be|going to be) (?:remov|retir|discontinu|sunset|shut)/i
const DEPRECATED =
  /(?<!\bun|\bbeing )\bdeprecat(?:e|ed|es|ing|ion of)\b(?! (?:warning|notice|option|use|code|call|api|method)s?\b(?! names))/i
const GOING =
  /\b(?:going away|end[- ]of[- ](?:life|support)|(?:is|are) (?:being )?(?:sunset|retired|shut down|discontinued)|sunset(?:ting)? of)\b/i

/** Words that mark an internal change, which is irrelevant to callers. */
const INWARD =
  /\b(?:dependenc(?:y|ies)|dep|workarounds?|unnecessary|superfluous|spurious|useless|unused|outdated|duplicates?|redundant|obsolete|polyfill|tests?|docs?|documentation|readme|badges?|comments?|logs?|restriction|limitation|internal|template|example|typos?|sidebar|website|screenshots?|changelog|brewfile|github|travis|lint\w*)\b/i
const PATH = /(?:^|[\s`])\/[\w{]/
const REMOVES =
  /^(?:support (?:for )?.{1,80} (?:is|was|has been) (?:removed|dropped)|remov(?:e[ds]?|ing|al of)|drop(?:s|ped|ping)?(?! ?down)|delet(?:e[ds]?|ing)|discontinu|retire[ds]?|we (?:are|have|will) (?:dropp|remov|retir|sunset|shut)\w*)\b/i
const REMOVED =
  /\b(?:(?:has|have) been|was|were|is|are|be) (?:now )?(?:removed|dropped|retired|deleted|discontinued)\b|\bremoved from the (?:api|response|request)|\bno longer (?:available|supported|accept(?:s|ed)?|returns?|returned|works?|exposed?|exported|included)\b/i
/** Words that concern callers, even in a line that also names something internal. */
const ENDS_SUPPORT = /\b(?:drop(?:s|ped|ping)?|remov\w+) support\b/i
const NO_LONGER = /\bno longer\b/i
/** A fault that no longer occurs, which is a fix. */
const FAULT_GONE =
  /\b(?:no longer|should not)\b[^.]{0,60}\b(?:crash\w*|errors?|hangs?|fail\w*|caus\w+|trigger\w*|leads? to|interfer\w*|breaks?|prevents?|interrupt\w*|flicker\w*|wrong\w*|incorrect\w*|erroneous\w*|excessive|infinite|zombie)\b/i
const BREAKS =
  /^renam(?:e[ds]?|ing)\b|\brenamed\b|\bbackwards?[- ]incompatible|\bincompatible\b|\bmust now\b|\bnow (?:requires?|throws?|rejects?|returns?|defaults?|uses? .{1,40} by default)|\b(?:is|are) now required\b|\brequires? (?:node|python|ruby|java|php|go)\b|\bminimum\b.{0,40}\b(?:version|is)\b|\bpure esm\b|\besm[- ]only\b|\btype changes?\b|^chang(?:e[ds]?|ing)\b.{0,120}\b(?:type|format|default|response|behaviou?r|from\b.{1,80}\bto)\b|^(?:lower|raise|reduce|increase)[ds]? (?:the )?default|\bdefault\b.{0,60}\b(?:changed|is now|are now)\b|\bdon't\b.{0,80}\bby default\b|\bexcluded by default\b|\bnow\b.{0,60}\bby default\b|\binstead of\b.{0,60}\bnow\b|\bmark\b.{0,200}\bas required\b/i
const MOVES =
  /\b(?:must|requires?d?|now|instead|no longer|only|migrat\w+|replac\w+|rotat\w+|expir\w+|chang\w+|lower\w*|reduc\w+|rais\w+|increas\w+|new|from \d\S* to \d)\b/i
const AUTH = /\b(?:authentication|authorization|oauth|api[- ]keys?|tokens?|scopes?|credentials?)\b/i
const LIMITS = /\b(?:rate[- ]limit(?:s|ed|ing)?|quotas?|throttl\w+|limits? (?:is|are|of|has|have|for))\b/i

const FIXES =
  /^(?:fix(?:e[ds])?|bug ?fix(?:es)?|quick ?(?:bug)?fix|correct(?:ed|s)?|resolve[ds]?|restore[ds]?|prevent(?:ed|s)?|avoid(?:ed|s)?|handle[ds]?|revert(?:ed|s)?|ensure[ds]?)\b/i
const ADDS =
  /^(?:add(?:ed|s)?|introduc(?:e[ds]?|ing)|new|allow(?:ed|s)?|support(?:s|ed)?|enable[ds]?|include[ds]?|improv\w+|export(?:ed|s)?)\b/i

export function kindOf(line: string, heading: string): ChangeKind | undefined {
  const section = sectionOf(heading)
  const [prefix = '', bracketed, written, bang] = PREFIX.exec(line) ?? []
  const tag = bracketed ?? written ?? ''
  const words = line.slice(prefix.length)
  if (SECURITY.test(line) && section !== 'other') return 'security'
  if (bang !== undefined || LOUD.test(line)) return 'breaking'
  if (section === 'breaking') return breakingAs(words)
  if (section === 'removal' || section === 'deprecation' || section === 'security') return section
  return isQuiet(words, { section, tag }) ? 'fix' : asWritten(words, section)
}

function isQuiet(words: string, { section, tag }: { section: Section | undefined; tag: string }): boolean {
  return (
    section === 'other' ||
    section === 'fix' ||
    /fix/i.test(tag) ||
    QUIET.test(tag) ||
    FIXES.test(words) ||
    isOnPaper(words)
  )
}

function sectionOf(heading: string): Section | undefined {
  const plain = heading
    .toLowerCase()
    .replace(/[^a-z ]/g, '')
    .trim()
  return sections.find(([, words]) => words.test(plain))?.[0]
}

function breakingAs(words: string): ChangeKind {
  if (FUTURE.test(words)) return 'deprecation'
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
    /\b(?:docs?|documentation|readme|typos?|sidebar|changelog|website|screenshots?)\b/i.test(words) &&
    !PATH.test(words) &&
    !ENDS_SUPPORT.test(words)
  )
}

type Reading = { readonly kind: ActionKind; readonly says: (words: string) => boolean }
/** First match wins. An announced change counts as a deprecation. */
const readings: readonly Reading[] = [
  { kind: 'deprecation', says: (words) => FUTURE.test(words) || DEPRECATED.test(words) },
  { kind: 'removal', says: (words) => GOING.test(words) || isRemoval(words) },
  { kind: 'breaking', says: (words) => BREAKS.test(words) || (NO_LONGER.test(words) && !FAULT_GONE.test(words)) },
  { kind: 'auth', says: (words) => AUTH.test(words) && MOVES.test(words) },
  { kind: 'limits', says: (words) => LIMITS.test(words) && MOVES.test(words) },
]

/** Kind of change by the words of a line; undefined if the words do not show it. */
function asWritten(words: string, section: Section | undefined): ChangeKind | undefined {
  if (ADDS.test(words)) return addedAs(words)
  const isInward = INWARD.test(words) && !PATH.test(words) && !ENDS_SUPPORT.test(words)
  const reading = readings.find(({ kind, says }) => says(words) && (!isInward || kind === 'deprecation'))
  return reading?.kind ?? (section === 'addition' ? 'addition' : undefined)
}

/** Kind of change for a line that adds something. The line may also announce a new requirement or a deprecation. */
function addedAs(words: string): ChangeKind {
  if (FUTURE.test(words)) return 'deprecation'
  if (/^add(?:ed|s)? (?:a )?deprecation/i.test(words)) return 'deprecation'
  return /\b(?:is|are) now required\b|\bnow requires?\b|\bmust now\b/i.test(words) ? 'breaking' : 'addition'
}
