import { useMemo } from 'react'
import type { NounFact } from '../../nouns/noun.ts'
import { padEnd, widthOf, wrap } from '../../text/text.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { dim, type Line, rule, strong } from '../parts/line.ts'
import type { Face, Host, Screen, View } from '../shell/screen.ts'
import { shownText } from './columns.ts'
import { listRows } from './rows.ts'
import { type ListParts, listFace } from './screen.ts'
import type { ListRows } from './shown.ts'

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
