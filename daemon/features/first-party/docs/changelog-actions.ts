import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { type ActionKind, type ChangeKind, isMarkedBreaking, kindOf } from './change-kinds.ts'
import { type ChangelogEntry, dateIn } from './changelog-entries.ts'

type Action = { readonly weight: number; readonly urgency: Urgency; readonly shown: { [member: string]: Json } }
type Urgency = 'now' | 'soon' | 'later'

const todos: Readonly<Record<ActionKind, { readonly weight: number; readonly todo: string }>> = {
  removal: { weight: 10, todo: 'Stop using what was removed' },
  security: { weight: 9, todo: 'Apply the security update' },
  breaking: { weight: 8, todo: 'Adapt to the breaking change' },
  auth: { weight: 7, todo: 'Check how you authenticate' },
  deprecation: { weight: 6, todo: 'Replace what is deprecated' },
  limits: { weight: 4, todo: 'Check the new limits' },
}

const NOW_DAYS = 30
const SOON_DAYS = 120
const MAX_EVIDENCE_CHARS = 300
const MAX_ABOUT_CHARS = 120
const MAX_ENDPOINTS = 10
const ENDPOINT = /(?<![\w/.])(?:(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+)?(\/[\w{}:.~-]+(?:\/[\w{}:.~-]*)*)/g
const NO_PATH = /^\/(?:(?:or|and)$|(?:usr|etc|bin|home|tmp|var|dev|opt|proc|lib)(?:\/|$))/i
const DEADLINE = /\b(?:by|on|until|before|after|from|effective|starting|as of)\s+(?=([^.;]{4,40}))/gi
/** Words that state what happens to users who do nothing. */
const ACT =
  /\b(?:remov|retir|sunset|shut|discontinu|drop|going away|end of|no longer|stop|requir|must|migrat|expire|reject)/i
const PAST = /\b(?:released?|introduced|added|announced|launched|available|since|created)\W+(?:\w+\W+){0,2}$/i

export type ChangelogAsked = {
  readonly focus: string
  /** Day of UTC. */
  readonly today: string
  /** All entries of the changelog (default: those to read). */
  readonly log?: readonly ChangelogEntry[]
}
type Ignored = { additions: number; fixes: number; out_of_focus: number }

/** Required actions, most urgent first, and the number of ignored changes by reason for ignoring them. */
export function actionsOf(entries: readonly ChangelogEntry[], asked: ChangelogAsked) {
  const ignored: Ignored = { additions: 0, fixes: 0, out_of_focus: 0 }
  const log = asked.log ?? entries
  const marks = ({ lines, sections }: ChangelogEntry) =>
    lines.some((line, at) => isMarkedBreaking(line, sections[at] ?? ''))
  // Entries older than the first marks have none.
  const marked = new Set(log.slice(0, log.findLastIndex(marks) + 1))
  const actions = entries.flatMap((entry) =>
    entry.lines.flatMap((line, at) => {
      const kind = kindOf(line, entry.sections[at] ?? '', marked.has(entry))
      if (!kind || isIgnored(kind, { line, asked, ignored })) return []
      return [actionOf(kind, { entry, line, today: asked.today })]
    }),
  )
  actions.sort((a, b) => order[a.urgency] - order[b.urgency] || b.weight - a.weight)
  return { actions: actions.map(({ shown }) => shown), ignored }
}

function isIgnored(
  kind: ChangeKind,
  { line, asked, ignored }: { line: string; asked: ChangelogAsked; ignored: Ignored },
): kind is 'addition' | 'fix' {
  if (kind === 'addition') ignored.additions += 1
  else if (kind === 'fix') ignored.fixes += 1
  else if (!isInFocus(line, asked.focus)) ignored.out_of_focus += 1
  else return false
  return true
}

const order = { now: 0, soon: 1, later: 2 } as const

function actionOf(
  kind: ActionKind,
  { entry, line, today }: { entry: ChangelogEntry; line: string; today: string },
): Action {
  const { weight, todo } = todos[kind]
  const deadline = deadlineIn(line)
  const urgency = urgencyOf(kind, { deadline, today })
  const endpoints = endpointsIn(line)
  const about = endpoints.length > 0 ? endpoints.join(', ') : shortened(line, MAX_ABOUT_CHARS).replace(/[.:]$/, '')
  return {
    weight,
    urgency,
    shown: {
      action: `${todo}: ${about}${deadline ? ` (by ${deadline})` : ''}.`,
      class: kind,
      urgency,
      deadline,
      date: entry.date,
      version: entry.version,
      endpoints,
      evidence: shortened(line, MAX_EVIDENCE_CHARS),
      ...compact({ url: entry.url }),
    },
  }
}

/** A text's beginning, up to the last sentence that is whole, or the last word. */
function shortened(text: string, chars: number): string {
  if (text.length <= chars) return text
  const start = text.slice(0, chars).toWellFormed()
  return /^.{40,}[.!?](?=\s[A-Z])/s.exec(start)?.[0] ?? start.replace(/\s\S*$/, '')
}

/** The first date after the match of `ACT`. If there is none, the line's first date, or else null. */
function deadlineIn(line: string): string | null {
  const act = line.search(ACT)
  const dates = [...line.matchAll(DEADLINE)].flatMap(({ index, 1: words = '' }) => {
    const date = PAST.test(line.slice(0, index)) ? null : dateIn(words)
    return date === null ? [] : [{ index, date }]
  })
  return (dates.find(({ index }) => act >= 0 && index > act) ?? dates[0])?.date ?? null
}

function urgencyOf(kind: ActionKind, { deadline, today }: { deadline: string | null; today: string }): Urgency {
  if (deadline !== null) {
    const days = (Date.parse(deadline) - Date.parse(today)) / DAY_MS
    if (days <= NOW_DAYS) return 'now'
    return days <= SOON_DAYS ? 'soon' : 'later'
  }
  if (kind === 'removal' || kind === 'security') return 'now'
  return kind === 'breaking' || kind === 'deprecation' || kind === 'auth' ? 'soon' : 'later'
}

export function endpointsIn(line: string): string[] {
  const found = [...line.matchAll(ENDPOINT)].flatMap(([, method, path = '']) => {
    const clean = path.replace(/[.:/-]+$/, '')
    // `and/or`, `2/3`, dates and files of a machine are not paths of an API.
    return clean.length < 3 || NO_PATH.test(clean) ? [] : [method ? `${method} ${clean}` : clean]
  })
  return [...new Set(found)].slice(0, MAX_ENDPOINTS)
}

/** Whether a line is in focus: one of its paths starts with a path of the focus, or it contains a word of the focus. */
function isInFocus(line: string, focus: string): boolean {
  const wanted = focus.trim().toLowerCase()
  if (wanted === '') return true
  const paths = endpointsIn(wanted).map((path) => path.replace(/^\S+ /, ''))
  const shown = endpointsIn(line).map((path) => path.replace(/^\S+ /, '').toLowerCase())
  if (paths.some((path) => shown.some((one) => one.startsWith(path)))) return true
  const words = wanted.replace(/\/\S+/g, ' ').match(/[\p{L}\p{N}]{4,}/gu) ?? []
  return words.some((word) => line.toLowerCase().includes(word))
}
