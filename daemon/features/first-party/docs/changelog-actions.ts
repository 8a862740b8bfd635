import type { Json } from '../../../../src/core/json.ts'
import { compact, ownOf } from '../../../../src/core/record.ts'
import { type ChangelogEntry, dateIn } from './changelog-entries.ts'

type Class = 'removal' | 'security' | 'breaking' | 'auth' | 'deprecation' | 'limits' | 'addition' | 'fix'
type Known = { readonly name: Class; readonly weight: number; readonly words: RegExp; readonly todo: string }

/** Heaviest first: a line is of the first kind whose words it has. */
const classes: readonly Known[] = [
  {
    name: 'removal',
    weight: 10,
    words:
      /\b(removed?|removes|removal|sunset(ted|s)?|shut ?down|discontinued|no longer (available|supported|accept(s|ed)?|returns?|works?)|retired)\b/i,
    todo: 'Stop using what is removed',
  },
  {
    name: 'security',
    weight: 9,
    words: /\b(security|vulnerabilit(y|ies)|CVE-\d{4}-\d+|exploit)\b/i,
    todo: 'Take the security change',
  },
  {
    name: 'breaking',
    weight: 8,
    words:
      /\b(breaking|backwards?[- ]incompatible|incompatible|must now|now requires?|is now required|are now required|renamed|changed? (the )?(type|format|default|response|behaviou?r))\b/i,
    todo: 'Change what breaks',
  },
  {
    name: 'auth',
    weight: 7,
    words: /\b(authentication|authorization|oauth|api keys?|tokens?|scopes?|credentials?)\b/i,
    todo: 'Look at how you authenticate',
  },
  {
    name: 'deprecation',
    weight: 6,
    words: /\b(deprecat(ed?|es|ing|ion)|will be (removed|retired|discontinued)|end[- ]of[- ]life|legacy)\b/i,
    todo: 'Move off what is deprecated',
  },
  {
    name: 'limits',
    weight: 4,
    words: /\b(rate[- ]limit(s|ed|ing)?|quotas?|throttl\w+|limits? (is|are|of|has|have))\b/i,
    todo: 'Check the new limits',
  },
  { name: 'fix', weight: 1, words: /\b(fix(ed|es)?|bug|typo|corrected|resolved)\b/i, todo: '' },
  {
    name: 'addition',
    weight: 1,
    words: /\b(add(ed|s)?|new|introduc\w+|support for|now (available|supports?))\b/i,
    todo: '',
  },
]
const FUTURE = /\b(will be (removed|retired|discontinued|sunset)|deprecat\w+)\b/i
const sections: Readonly<Record<string, Class>> = {
  removed: 'removal',
  security: 'security',
  deprecated: 'deprecation',
  'breaking changes': 'breaking',
  breaking: 'breaking',
  fixed: 'fix',
  added: 'addition',
}

const NOW_DAYS = 30
const SOON_DAYS = 120
const DAY_MS = 86_400_000
const MAX_EVIDENCE_CHARS = 300
const MAX_ENDPOINTS = 10
const ENDPOINT = /(?<![\w/.])(?:(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+)?(\/[\w{}:.~-]+(?:\/[\w{}:.~-]*)*)/g
const DEADLINE = /\b(?:by|on|until|before|after|from|effective)\s+([^.;]{4,40})/gi

export type ChangelogAsked = { readonly focus: string /** Day of UTC. */; readonly today: string }
type Action = { readonly weight: number; readonly urgency: Urgency; readonly shown: { [member: string]: Json } }
type Urgency = 'now' | 'soon' | 'later'

type Ignored = { additions: number; fixes: number; out_of_focus: number }

/** What to do, most urgent first, and how much was left out. */
export function actionsOf(entries: readonly ChangelogEntry[], asked: ChangelogAsked) {
  const ignored: Ignored = { additions: 0, fixes: 0, out_of_focus: 0 }
  const actions = entries.flatMap((entry) =>
    entry.lines.flatMap((line, at) => {
      const known = classOf(line, entry.sections[at] ?? '')
      if (!known || isIgnored(known, { line, asked, ignored })) return []
      return [actionOf(known, { entry, line, today: asked.today })]
    }),
  )
  actions.sort((a, b) => order[a.urgency] - order[b.urgency] || b.weight - a.weight)
  return { actions: actions.map(({ shown }) => shown), ignored }
}

function isIgnored(
  { name }: Known,
  { line, asked, ignored }: { line: string; asked: ChangelogAsked; ignored: Ignored },
): boolean {
  if (name === 'addition') ignored.additions += 1
  else if (name === 'fix') ignored.fixes += 1
  else if (!isInFocus(line, asked.focus)) ignored.out_of_focus += 1
  else return false
  return true
}

const order = { now: 0, soon: 1, later: 2 } as const

/** `Fixed`, `Fix:`, `**Fixed**`: by the word that a line begins with its writer says what it is. */
const BEGINS_AS_FIX = /^\W*(?:fix(?:ed|es)?|bug ?fix(?:es)?|correct(?:ed|s)|resolve[sd])\b/i
const BEGINS_AS_ADDITION = /^\W*(?:add(?:ed|s)?|introduc(?:ed|es|ing)|new)\b/i
/** Words about words: nobody calls these. */
const ON_PAPER = /\b(?:docs?|documentation|readme|typos?|sidebar|changelog|website|screenshots?)\b/i

/** What is announced for later is a deprecation, whatever it will be then. */
function classOf(line: string, section: string): Known | undefined {
  const named = ownOf(sections, section.trim().toLowerCase())
  if (named && named !== 'fix' && named !== 'addition') return byName(named)
  const mild = mildBy(line)
  if (mild) return byName(mild)
  if (FUTURE.test(line)) return byName('deprecation')
  const found = classes.find(({ words }) => words.test(line)) ?? (named && byName(named))
  return found && (isMild(found) ? mildly(found, line, named) : found)
}

/** What asks nothing of anybody, by how the line begins or by what it is about. */
function mildBy(line: string): 'fix' | 'addition' | undefined {
  if (BEGINS_AS_FIX.test(line) && !/\b(security|vulnerabilit|CVE-)/i.test(line)) return 'fix'
  if (BEGINS_AS_ADDITION.test(line) && !/\b(breaking|required?|deprecat)/i.test(line)) return 'addition'
  return ON_PAPER.test(line) && endpointsIn(line).length === 0 ? 'fix' : undefined
}

function byName(name: Class): Known | undefined {
  return classes.find((known) => known.name === name)
}

function isMild({ name }: Known): boolean {
  return name === 'auth' || name === 'limits'
}

/** A bug of the authentication that is fixed asks for nothing. */
function mildly(found: Known, line: string, named: Class | undefined): Known | undefined {
  if (named) return byName(named)
  if (/\bfix(ed|es)?\b/i.test(line)) return byName('fix')
  return /\badd(ed|s)?\b/i.test(line) ? byName('addition') : found
}

function actionOf(
  known: Known,
  { entry, line, today }: { entry: ChangelogEntry; line: string; today: string },
): Action {
  const deadline = deadlineIn(line)
  const urgency = urgencyOf(known, { deadline, today })
  const endpoints = endpointsIn(line)
  const about = endpoints.length > 0 ? `: ${endpoints.join(', ')}` : ''
  return {
    weight: known.weight,
    urgency,
    shown: {
      action: `${known.todo}${about}${deadline ? ` (by ${deadline})` : ''}.`,
      class: known.name,
      urgency,
      deadline,
      date: entry.date,
      version: entry.version,
      endpoints,
      evidence: line.slice(0, MAX_EVIDENCE_CHARS).toWellFormed(),
      ...compact({ url: entry.url }),
    },
  }
}

function deadlineIn(line: string): string | null {
  for (const [, words = ''] of line.matchAll(DEADLINE)) {
    const date = dateIn(words)
    if (date) return date
  }
  return null
}

function urgencyOf({ name }: Known, { deadline, today }: { deadline: string | null; today: string }): Urgency {
  if (deadline !== null) {
    const days = (Date.parse(deadline) - Date.parse(today)) / DAY_MS
    if (days <= NOW_DAYS) return 'now'
    return days <= SOON_DAYS ? 'soon' : 'later'
  }
  if (name === 'removal' || name === 'security') return 'now'
  return name === 'breaking' || name === 'deprecation' || name === 'auth' ? 'soon' : 'later'
}

export function endpointsIn(line: string): string[] {
  const found = [...line.matchAll(ENDPOINT)].flatMap(([, method, path = '']) => {
    const clean = path.replace(/[.:/-]+$/, '')
    // `and/or`, `2/3` and dates are no paths.
    return clean.length < 3 || /^\/(or|and)$/i.test(clean) ? [] : [method ? `${method} ${clean}` : clean]
  })
  return [...new Set(found)].slice(0, MAX_ENDPOINTS)
}

/** A path in the focus has to begin one in the line; of its words one has to be there. */
function isInFocus(line: string, focus: string): boolean {
  const wanted = focus.trim().toLowerCase()
  if (wanted === '') return true
  const paths = endpointsIn(wanted).map((path) => path.replace(/^\S+ /, ''))
  const shown = endpointsIn(line).map((path) => path.replace(/^\S+ /, '').toLowerCase())
  if (paths.some((path) => shown.some((one) => one.startsWith(path)))) return true
  const words = wanted.replace(/\/\S+/g, ' ').match(/[\p{L}\p{N}]{4,}/gu) ?? []
  return words.some((word) => line.toLowerCase().includes(word))
}
