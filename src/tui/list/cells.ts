import { columnsIn, type NounColumn, type Toned } from '../../nouns/columns.ts'
import type { Noun, NounFact } from '../../nouns/noun.ts'
import { count, padEnd, safe, widthOf, wrap } from '../../text/text.ts'
import { zonedTime } from '../../text/time.ts'
import { dim, type Line, type Piece, strong } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'

/* Cells and facts of a noun as a screen has them: what strangers wrote is made fit for a terminal here. */

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** A text of the marketplace, its times in the zone of the cockpit. */
export function shown(text: string): string {
  return safe(text).replace(ISO_TIME, (time) => zonedTime(Date.parse(time)))
}

function piece(value: Toned | number | null | undefined): Piece {
  if (value === null || value === undefined || value === '') return '—'
  if (typeof value === 'number') return count(value)
  return typeof value === 'string' ? shown(value) : { ...value, text: shown(value.text) }
}

type Kind = NounColumn<unknown>['kind']

const looks: Readonly<Record<Kind, Omit<ScreenColumn<never>, 'title' | 'value' | 'drop'>>> = {
  id: { exact: true },
  state: {},
  name: { min: 12 },
  word: { min: 8 },
  money: { align: 'right', exact: true },
  count: { align: 'right' },
  time: {},
  age: { align: 'right' },
}
/** Ids go first. */
const ID_DROP = 9

/** The columns of a noun on a screen: how it stands before all others, its id behind them. */
export function screenColumns<R>(noun: Noun<R>, now: number | undefined): readonly ScreenColumn<R>[] {
  const { stateOf } = noun
  const columns = columnsIn(noun.columns, 'screen').filter(({ kind }) => kind !== 'state')
  const [ids, others] = [columns.filter(({ kind }) => kind === 'id'), columns.filter(({ kind }) => kind !== 'id')]
  const state: ScreenColumn<R>[] =
    stateOf === undefined ? [] : [{ title: 'STATE', value: (row) => piece(stateOf(row)) }]
  return [...state, ...[...others, ...ids].map((column) => screenColumn(column, now))]
}

function screenColumn<R>(column: NounColumn<R>, now: number | undefined): ScreenColumn<R> {
  const { title, all = title, kind, value, drop = kind === 'id' ? ID_DROP : undefined } = column
  const plain = (row: R) => piece(value(row, now))
  const worded = (row: R, tone: typeof dim) => {
    const one = plain(row)
    return typeof one === 'string' ? tone(one) : one
  }
  const toned = { money: (row: R) => worded(row, strong), id: (row: R) => worded(row, dim) }
  return {
    ...looks[kind],
    title: all,
    value: kind === 'money' || kind === 'id' ? toned[kind] : plain,
    ...(drop === undefined ? {} : { drop }),
  }
}

const LABEL_COLUMNS = 13

/** Facts with a row or more each; an address is there whole or not at all. */
export function factLines(facts: readonly NounFact[], width: number): Line[] {
  const room = Math.max(1, width - LABEL_COLUMNS - 2)
  return facts
    .map(([label, words]) => [label, shown(words)] as const)
    .filter(([, words]) => words !== '' && (words.includes(' ') || widthOf(words) <= room))
    .flatMap(([label, words]) =>
      wrap(words, room).map((part, i): Line => [dim(` ${padEnd(i === 0 ? label : '', LABEL_COLUMNS - 1)}`), part]),
    )
}
