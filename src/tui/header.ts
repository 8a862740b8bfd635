import { count, shortSpan, span } from '../text/text.ts'
import { clockTime, zoneName } from '../text/time.ts'
import {
  accent,
  active,
  bad,
  dim,
  flat,
  good,
  grounded,
  hitting,
  type Line,
  lineWidth,
  type Piece,
  sized,
  spread,
  strong,
  warn,
} from './parts/line.ts'
import { screens, tabs } from './screens.ts'
import { staleness } from './shell/notice.ts'
import { type FrameView, NARROW_COLUMNS, type Size, type Tab, WIDE_COLUMNS } from './shell/screen.ts'

/** Clock offsets are rounded to whole minutes, since smaller ones are only request latency. */
const LEAST_SHIFT_MS = 60_000
const MS_PER_SECOND = 1_000
/** From this width the header shows money and uptime. */
const FULL_COLUMNS = WIDE_COLUMNS
/** Below this width the header shows only what is unusual. */
const ROOMY_COLUMNS = 80

/** Which optional parts the header shows. Parts are dropped until the header fits. */
type HeaderRoom = { readonly money: boolean; readonly actor: boolean; readonly clock: boolean }

/** The header. Left: marketplace, user and state. Right: clock offset, problems, freshness and time. */
export function headerLine(view: FrameView, { columns }: Size): Line {
  // The notice of a stopped daemon needs the space of money and user.
  const isGone = view.health.problem?.kind === 'gone'
  const money = columns >= FULL_COLUMNS && !isGone
  const actor = columns >= ROOMY_COLUMNS && !isGone
  const rooms: readonly HeaderRoom[] = [
    { money, actor, clock: true },
    { money: false, actor, clock: true },
    { money: false, actor: false, clock: true },
    { money, actor, clock: false },
  ]
  const sides = rooms.map((room) => [headerLeft(view, room, columns), headerRight(view, room, columns)] as const)
  const fits = sides.find(([left, right]) => lineWidth(left) + lineWidth(right) < columns)
  const [left, right] = fits ?? sides.at(-1) ?? [[], []]
  const line = spread(columns, left, right)
  // Nothing is recorded while the disk is full, so the whole row is red.
  if (view.health.value?.refused !== undefined) return flat(line, 'alarm')
  return grounded(line, view.place.guarded ? 'remote' : 'bar')
}

function headerLeft(view: FrameView, { money, actor }: HeaderRoom, columns: number): Line {
  const up = view.where?.startedAt
  const isFull = columns >= FULL_COLUMNS
  const since =
    isFull && up !== undefined && view.health.problem === undefined ? dim(`  up ${span(view.now - up)}`) : ''
  const whose = [
    ...(view.place.guarded ? [warn(' · remote')] : []),
    ...moneyWords(view, money),
    ...actorWords(view, actor),
  ]
  return [' ', strong('souk'), '  ', view.place.name, ...whose, '  ', ...stateWords(view), since]
}

function headerRight(view: FrameView, { clock }: HeaderRoom, columns: number): Line {
  return [
    ...(clock ? clockWords(view) : []),
    ...needWords(view),
    ...(columns >= ROOMY_COLUMNS || view.ui.frozen || !view.isPushed ? liveWords(view) : []),
    clockTime(view.now),
    columns >= FULL_COLUMNS ? ` ${zoneName(view.now)} ` : ' ',
  ]
}

/** The kind of money. Real money is named at every width. */
function moneyWords({ health }: FrameView, isFull: boolean): Line {
  const { chain } = health.value ?? {}
  if (chain === 'base') return [warn(' · REAL MONEY')]
  if (chain === undefined || !isFull) return []
  return [dim(` · ${chain === 'sandbox' ? 'sandbox money' : chain}`)]
}

function actorWords({ where, readonly }: FrameView, isRoomy: boolean): Line {
  const admin = isRoomy ? [dim(' · admin')] : []
  const actor = where?.admin === false ? [warn(' · no admin key')] : admin
  return [...(where === undefined ? [] : actor), ...(readonly ? [warn(' · read-only')] : [])]
}

/** State of the instance, also if it cannot be reached. */
export function stateWords(view: FrameView): Line {
  const { health, now } = view
  if (health.problem?.kind === 'starting') return [warn('○ starting')]
  if (health.problem?.kind === 'gone') return goneWords(view)
  const stale = staleness(health, now)
  if (stale !== undefined) return [warn(`! ${stale}`)]
  if (health.value === undefined) return health.problem ? [bad('✗ unreadable')] : [dim('○ asking')]
  if (health.value.refused !== undefined) return [bad('✗ disk full: no writes')]
  if (!health.value.paused) return [good('● trading')]
  const { pausedAt } = health.value
  return [warn(`‖ paused${pausedAt === undefined ? '' : ` ${shortSpan(Math.max(0, now - pausedAt))}`}`)]
}

/** Whether a remote is gone or only hangs cannot be told from here. */
function goneWords({ health: { at }, now, place }: FrameView): Line {
  if (at === undefined) return [bad('✗ unreachable')]
  const what = place.guarded ? 'no answer' : 'daemon gone'
  return [bad(`✗ ${what}, ${span(now - at)}`), dim(`  last answer ${clockTime(at)}`)]
}

/** Shows how far business time is ahead or behind, and whether it is frozen. */
function clockWords({ clock, health }: FrameView): Line {
  if (clock.value === undefined || health.problem !== undefined) return []
  const { offsetMs, frozen } = clock.value
  // Rounded to minutes.
  const shiftMs = Math.round(Math.abs(offsetMs) / LEAST_SHIFT_MS) * LEAST_SHIFT_MS
  const ahead = shiftMs === 0 ? [] : [`${offsetMs < 0 ? '-' : '+'}${span(shiftMs)}`]
  const words = [...ahead, ...(frozen ? ['frozen'] : [])]
  return words.length === 0 ? [] : [warn(`clock ${words.join(', ')}`), '  ']
}

function needWords({ needs, health }: FrameView): Line {
  if (needs.value === undefined || health.problem !== undefined) return []
  const { total, items } = needs.value
  if (total === 0) return [good('✓ no problems'), '  ']
  const words = `${count(total)} problem${total === 1 ? '' : 's'}`
  return [items.some(({ grave }) => grave) ? bad(`✗ ${words}`) : warn(`! ${words}`), '  ']
}

/** How the data is kept fresh. `live` means that the daemon pushes events. */
function liveWords({ health, ui, now, refreshMs, isPushed }: FrameView): Line {
  if (ui.frozen) return [warn('‖ held'), '  ']
  if (health.problem !== undefined) {
    if (health.nextAt === undefined) return [dim('trying again'), '  ']
    // Show one refresh interval at most, because `now` can lag by up to a second.
    const leftMs = Math.min(Math.max(0, health.nextAt - now), refreshMs)
    return [dim(`tries again in ${Math.ceil(leftMs / MS_PER_SECOND)}s`), '  ']
  }
  return isPushed ? [good('● live'), '  '] : [dim(`○ every ${span(refreshMs)}`), '  ']
}

const GAPS = [3, 1, 0] as const

/** Tabs with counts. Narrow windows shorten the names, then show only the current tab. */
export function tabLine(view: FrameView, { columns }: Size): Line {
  const { screen: current } = view.ui
  const alone = screens.find(({ id }) => id === current)
  const lineOf = (nameOf: (tab: (typeof tabs)[number]) => string, gap: number): Line => [
    ...tabs.flatMap((tab): Piece[] => {
      const words = ` ${tab.digit} ${nameOf(tab)}${badgeOf(view, tab)} `
      const rest = ' '.repeat(Math.max(0, gap - 2))
      if (tab.id === current) return [active(words), rest]
      const pieces = [dim(` ${tab.digit} `), nameOf(tab), ...badgePieces(view, tab), gap === 0 ? '' : ' ']
      return [...hitting(pieces, { tab: tab.id }), rest]
    }),
    ...(alone === undefined || alone.digit !== undefined ? [] : [active(` : ${alone.title.split(' ')[0] ?? ''} `)]),
  ]
  const wishes = [
    ...(columns >= NARROW_COLUMNS ? GAPS.map((gap) => lineOf(({ title }) => title, gap)) : []),
    lineOf(({ short }) => short, 1),
    lineOf(({ short }) => short, 0),
    lineOf(({ short }) => short.slice(0, 3), 1),
    lineOf(({ id, short, title }) => (id === current ? title : short.slice(0, 3)), 0),
    // Names are cut before tabs are dropped.
    lineOf(({ short }) => short.slice(0, 3), 0),
    lineOf(({ short }) => short.slice(0, 2), 0),
    lineOf(({ id, title }) => (id === current ? title : ''), 0),
  ]
  const fits = wishes.find((line) => lineWidth(line) <= columns)
  return sized(fits ?? [active(` ${alone?.digit ?? ':'} ${alone?.title ?? ''} `), dim('  tab goes on')], columns)
}

function badgeOf(view: FrameView, tab: Tab): string {
  const waiting = view.needs.value?.byScreen[tab.id]
  return waiting === undefined ? '' : `${waiting.grave ? '✗' : '!'}${waiting.count}`
}

function badgePieces(view: FrameView, tab: Tab): Piece[] {
  const badge = badgeOf(view, tab)
  if (badge === '') return []
  return [badge.startsWith('✗') ? bad(badge) : warn(badge)]
}

/** As many whole hints as fit. */
export function hintLine(hints: readonly { readonly key: string; readonly word: string }[], width: number): Line {
  let line: Line = []
  for (const { key, word } of hints) {
    const longer: Line = [...line, line.length === 0 ? ' ' : '  ', accent(key), ` ${word}`]
    if (lineWidth(longer) > width) break
    line = longer
  }
  return line
}
