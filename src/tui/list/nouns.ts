import { useMemo } from 'react'
import { compact } from '../../core/record.ts'
import type { Noun, NounFact } from '../../nouns/noun.ts'
import { padEnd, widthOf, wrap } from '../../text/text.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, blank, dim, type Line, rule, spread, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import { emptyLines, listHead, listTable, viewWords, wordLines } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, paneActions, placeWords, sliceWords } from '../shell/pane.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { shownText } from './columns.ts'
import { type ListRows, listRows, PAGE, type ShownRows, viewIn } from './rows.ts'

/** What differs between list screens. */
type ListScreen<R> = ListRows<R> &
  Pick<ListParts<R>, 'title' | 'empty' | 'order'> & {
    /** Hook that fetches more about the chosen row, and returns a function that draws it. */
    readonly useMore?: (host: Host, row: R | undefined) => (width: number) => readonly Line[]
  }

/** Parts of a list that shows the facts of its noun. */
type NounParts<R> = Pick<Partial<ListParts<R>>, 'viewsOf' | 'within' | 'above' | 'beside'> & {
  /** Shown at the right end of the drawer's title. */
  readonly tabs: Line
  /** Whether the drawer shows JSON. */
  readonly isRaw?: boolean
  readonly actions: (rows: readonly R[], ids: readonly string[]) => Face['actions']
  /** Texts of keys for the chosen row; its id is empty if there is none. */
  readonly hintsOf?: (row: R | undefined, id: string) => Face['hints']
}

const plainParts = { tabs: [], actions: () => ({}) }

/** Creates the hook of a list screen. Without `parts` it shows only list and drawer. */
export function listScreen<R extends object>(screen: ListScreen<R>) {
  const { noun, useMore = useNothing } = screen
  const useRows = listRows(screen)
  return function useList(host: Host, view: View, parts: NounParts<R> = plainParts): ReturnType<Screen['use']> {
    const shown = useRows(host, view)
    const { row, rows, now, face } = shown
    const { open } = view.ui.pane
    const more = useMore(host, row)
    const isRaw = open === 'raw'
    const raw = useMemo(() => (isRaw && row !== undefined ? jsonLines(row) : undefined), [isRaw, row])
    const whole = open === 'full' && row ? wholeLines(noun, row, { width: view.area.width, now }) : raw
    const factsOf = (one: R, width: number) =>
      parts.isRaw ? jsonLines(one) : [...more(width), ...factLines(noun.facts?.(one) ?? [], width)]
    return listFace(host, {
      ...screen,
      ...parts,
      shown,
      view,
      ...(screen.useMore && { share: WIDE_DRAWER_SHARE }),
      drawer: (one, { width }) => [rule(width, noun.idOf(one), parts.tabs), ...factsOf(one, width)],
      open: whole && { lines: whole },
      actions: parts.actions(rows, face.ids),
      hints: parts.hintsOf?.(row, row === undefined ? '' : noun.idOf(row)),
    })
  }
}

/** The screen that a noun declares. */
export async function nounScreen<R extends object>(noun: Noun<R> & Required<Pick<Noun<R>, 'screen'>>): Promise<Screen> {
  const { title, fields } = noun.screen
  const listFields = await import('../../api/endpoint/list-fields.ts')
  const useList = listScreen({ id: noun.plural, noun, fields: listFields[fields], title })
  return { title, use: (host, view) => useList(host, view) }
}

const WIDE_DRAWER_SHARE = 2
const useNothing = () => () => []

/** All facts of a row, shown in place of the list. */
function wholeLines<R>(
  noun: ListRows<R>['noun'],
  row: R,
  { width, now }: { width: number; now: number | undefined },
): Line[] {
  const state = noun.stateOf?.(row, now)
  return [
    [dim(' name        '), strong(shownText(noun.nameOf(row)))],
    ...(state === undefined ? [] : [[dim(' state       '), state]]),
    ...factLines(noun.facts?.(row) ?? [], width),
  ]
}

const LABEL_COLUMNS = 13

/** Facts, wrapped to the width. A value without blanks is shown whole or not at all. */
function factLines(facts: readonly NounFact[], width: number): Line[] {
  const room = Math.max(1, width - LABEL_COLUMNS - 2)
  return facts
    .map(([label, words]) => [label, shownText(words)] as const)
    .filter(([, words]) => words !== '' && (words.includes(' ') || widthOf(words) <= room))
    .flatMap(([label, words]) =>
      wrap(words, room).map((part, i): Line => [dim(` ${padEnd(i === 0 ? label : '', LABEL_COLUMNS - 1)}`), part]),
    )
}

/** Parts per draw. */
type ListParts<R> = {
  readonly title: string
  /** Which rows are shown (default: `21 to 40 of 1,204`). */
  readonly place?: string
  /** Sentence of an empty list (default: by its noun). */
  readonly none?: string
  /** Words of an empty list, where those of the noun are wrong. */
  readonly empty?: Pick<Noun<R>, 'plural' | 'source'>
  /** The view, where views have different rows; `all` has all of them (default: the view of the list). */
  readonly within?: string
  /** Describes the default sort order. */
  readonly order?: string
  /** Names of the views (default: those of the list). @param total - number of rows, undefined if unknown */
  readonly viewsOf?: (total: number | undefined) => Line
  /** How many rows other views have. */
  readonly counts?: Readonly<Record<string, number>>
  /** Shown before the sort order. */
  readonly note?: Line
  readonly above?: (area: ScreenArea) => readonly Line[]
  /** Drawn below the rows. `isSplit` if the drawer is beside them. */
  readonly foot?: (area: ScreenArea, isSplit: boolean) => readonly Line[]
  /** Drawn beside the list if there is room. The drawer is then below the list. */
  readonly beside?: (area: ScreenArea) => readonly Line[]
  /** Width of what is beside the list, 0 if there is no room (default: `sideOf`). */
  readonly sideOf?: (width: number) => number
  /** The drawer below the list has a part of the height, and what the rows leave (default: a third). */
  readonly share?: number
  /** Draws the chosen row below or beside the list. */
  readonly drawer: (row: R, area: ScreenArea, isBeside: boolean) => readonly Line[]
  /** The opened row, shown in place of the list. */
  readonly open?: OpenedRow | undefined
  readonly actions: Face['actions']
  readonly hints?: Face['hints']
}

type OpenedRow = {
  readonly lines: readonly Line[]
  /** (default: the id) */
  readonly title?: string
  /** Shown at the right end of the title, in place of the position. */
  readonly note?: Line
  /** Drawn above the title. @param place - which lines are shown */
  readonly head?: (place: string) => Line
}

type Model<R> = ListParts<R> & { readonly shown: ShownRows<R>; readonly view: View }

export function listFace<R extends object>(host: Host, model: Model<R>): ReturnType<Screen['use']> {
  const { shown, open, actions, hints, view } = model
  return {
    ...shown.face,
    draw: (area) => listLines(model, area),
    actions: { ...shown.face.actions, ...paneActions(host, open?.lines, openArea(open, view.area)), ...actions },
    ...compact({ hints }),
  }
}

/** The room of an opened row. */
function openArea(open: OpenedRow | undefined, { width, height }: ScreenArea): ScreenArea {
  return { width, height: open?.head === undefined ? height : height - 1 }
}

function listLines<R extends object>(model: Model<R>, area: ScreenArea): Line[] {
  const { open, view, beside, drawer } = model
  const { row, list } = model.shown
  if (open !== undefined && row) {
    const { lines, title = list.noun.idOf(row), head, ...note } = open
    const [{ scroll }, room] = [view.ui.pane, openArea(open, area)]
    return [
      ...(head ? [head(placeWords(lines, scroll, room))] : []),
      ...openLines(lines, { title, scroll, ...note }, room),
    ]
  }
  const side = (model.sideOf ?? sideOf)(area.width)
  const { width, height } = area
  const drawn = beside ?? ((room: ScreenArea) => (row ? drawer(row, room, true) : []))
  const right = side === 0 ? [] : drawn({ width: side, height })
  if (right.length === 0) return listedLines(model, area, false)
  const split = width - side - 1
  return joinedPanels(listedLines(model, { width: split, height }, beside === undefined), right, {
    width,
    split,
    height,
  })
}

/** Draws the list and the lines above it. Also draws the drawer, unless the drawer is beside the list. */
function listedLines<R extends object>(model: Model<R>, area: ScreenArea, isSplit: boolean): Line[] {
  const { shown, share = DRAWER_SHARE, drawer, view } = model
  const { list, columns, listed, rows, row, chosen } = shown
  const { width } = area
  const head = [...(model.above?.(area) ?? []), ...headLines(model, width)]
  if (listed.value === undefined) return [...head, ...waitingLines(listed, width)]
  if (row === undefined) return [...head, ...(model.above ? [] : [blank]), ...whyEmpty(model, width)]
  const foot = model.foot?.(area, isSplit) ?? []
  const room = area.height - head.length - 1 - foot.length
  const least = Math.max(DRAWER_ROWS, Math.floor(area.height / share))
  const most = Math.max(1, Math.min(rows.length, room - least))
  const below = isSplit ? [] : drawer(row, { width, height: room - most }, false).slice(0, Math.max(0, room - most))
  const height = isSplit ? room : Math.max(1, Math.min(rows.length, room - below.length))
  const table = listTable(view.ui, { columns, rows, idOf: list.noun.idOf, chosen, width, height })
  return [...head, table.head, ...table.body, ...foot, ...below]
}

const DRAWER_ROWS = 7
const DRAWER_SHARE = 3
type HeadAt = { readonly width: number; readonly isBeside: boolean; readonly isOnly?: boolean }

/** Draws the head of a drawer with tabs: below the list one line, beside it two. `isOnly` if there is one tab. */
export function tabbedHead(title: string, tabs: (room: number) => Line, { width, isBeside, isOnly }: HeadAt): Line[] {
  if (!isBeside) return [rule(width, title, tabs(width - title.length))]
  const whole: Line = [accent('enter'), dim(' whole screen')]
  return [rule(width, title, whole), spread(width, [' ', ...tabs(width)], [dim(isOnly ? '' : '←→ ')])]
}

function headLines<R>(model: Model<R>, width: number): Line[] {
  const { title, order, counts, note = [], shown, view } = model
  const { list, rows, total, listed, among } = shown
  const { id, noun, views } = list
  const { ui, now, keys } = view
  const known = ui.filters[id] ? undefined : total
  const current = viewIn(list, ui)
  const counted = { ...counts, ...compact({ [current]: known }) }
  return listHead(width, {
    title,
    place: model.place ?? sliceWords({ offset: (ui.pages[id] ?? 0) * PAGE, rows: rows.length, total: total ?? 0 }),
    stale: staleness(listed, now),
    views: model.viewsOf?.(known) ?? viewWords(views?.all ?? [], current, counted),
    ui,
    screen: id,
    keys,
    order: order ?? noun.order ?? 'newest first',
    note: [...note, ...(among ? [warn(`! ${among}   `)] : [])],
  })
}

function whyEmpty<R>(model: Model<R>, width: number): Line[] {
  const { none, shown, view } = model
  const { list, elsewhere = '' } = shown
  const filter = view.ui.filters[list.id]
  if (none !== undefined) return wordLines(filter ? 'nothing matches the filter: esc clears it' : none, width)
  const { name = '', plural = '', source = ['', ''] } = { ...list.noun, ...model.empty }
  const within = model.within ?? (viewIn(list, view.ui) || 'all')
  return emptyLines({ name, plural, source }, { view: within, filter, elsewhere, width, option: view.place.option })
}
