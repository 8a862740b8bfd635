import { tableOf } from '../../core/record.ts'
import { count } from '../../text/text.ts'
import { type Line, rule } from '../parts/line.ts'
import type { Face, Host, ScreenArea } from './screen.ts'
import { type CursorStep, type Pane, paneBeside, stepNames, walked } from './ui.ts'

/** Number of lines that a page key scrolls. */
const PAGE_LINES = 10

export type OpenedPane = {
  readonly title: string
  readonly scroll: number
  /** Shown at the right end of the title, in place of the position. */
  readonly note?: Line
}

/** Draws an opened row in place of the list, scrolled. */
export function openLines(lines: readonly Line[], { title, scroll, note }: OpenedPane, area: ScreenArea): Line[] {
  const from = Math.min(scroll, reachOf(lines, area))
  const head = rule(area.width, title, note ?? [placeWords(lines, scroll, area)])
  return [head, ...lines.slice(from, from + area.height - 1)]
}

/** Range of the visible lines, such as `1-20 of 64`; `esc closes` if all lines are visible. */
export function placeWords(lines: readonly Line[], scroll: number, area: ScreenArea): string {
  const height = area.height - 1
  const from = Math.min(scroll, reachOf(lines, area))
  if (lines.length <= height) return 'esc closes'
  return `${count(from + 1)}-${count(from + height)} of ${count(lines.length)}`
}

/** Scroll limit. */
function reachOf(lines: readonly Line[], { height }: ScreenArea): number {
  return Math.max(0, lines.length - (height - 1))
}

/** Opens and closes the chosen row. While it is open, movement keys scroll its `lines`. */
export function paneActions(host: Host, lines: readonly Line[] | undefined, area: ScreenArea): Face['actions'] {
  const set = (pane: Pane) => host.ui.set({ ...host.ui.get(), pane })
  const toggle = (open: Pane['open']) => () => {
    const isOpen = host.ui.get().pane.open === open
    set(isOpen ? paneBeside : { open, scroll: 0 })
  }
  return {
    open: toggle('full'),
    raw: toggle('raw'),
    ...(lines === undefined ? {} : scrolling(host, reachOf(lines, area))),
  }
}

function scrolling({ ui }: Host, reach: number): Face['actions'] {
  const to = (target: (at: number) => number) => () => {
    const { pane } = ui.get()
    ui.set({ ...ui.get(), pane: { ...pane, scroll: Math.max(0, Math.min(target(pane.scroll), reach)) } })
  }
  return {
    up: to((at) => at - 1),
    down: to((at) => at + 1),
    pageUp: to((at) => at - PAGE_LINES),
    pageDown: to((at) => at + PAGE_LINES),
    first: to(() => 0),
    last: to(() => reach),
  }
}

/** Which rows of a list a page has, for texts like `21 to 40 of 1,204`. */
export type PaneSlice = { readonly offset: number; readonly rows: number; readonly total: number }

export function sliceWords({ offset, rows, total }: PaneSlice): string {
  if (rows === 0 || rows === total) return `${count(rows)} of ${count(total)}`
  return `${count(offset + 1)} to ${count(offset + rows)} of ${count(total)}`
}

/** Page keys, and movement keys that go on to the next page. Keys that arrive together act in order. */
export function pageActions(host: Host, total: number, size: number): Face['actions'] {
  const last = Math.max(0, Math.ceil(total / size) - 1)
  const turn = (by: number) => () => {
    const ui = host.ui.get()
    const page = Math.max(0, Math.min((ui.pages[ui.screen] ?? 0) + by, last))
    host.ui.set({ ...ui, pages: { ...ui.pages, [ui.screen]: page } })
  }
  const step = (name: CursorStep) => () =>
    host.ui.set(walked(host.ui.get(), host.face.current.ids, { step: name, lastPage: last }))
  return { ...tableOf(stepNames, step), nextPage: turn(1), previousPage: turn(-1) }
}
