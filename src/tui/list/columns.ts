import { compact } from '../../core/record.ts'
import { columnsIn, type NounColumn, textOf } from '../../nouns/columns.ts'
import type { Noun } from '../../nouns/noun.ts'
import type { Toned } from '../../nouns/tones.ts'
import { count, safe } from '../../text/text.ts'
import { zonedTime } from '../../text/time.ts'
import { dim, type Piece, type ScreenColumn, strong } from '../parts/line.ts'

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** Sanitised text, with its times in the display zone. */
export function shownText(text: string): string {
  return safe(text).replace(ISO_TIME, (time) => zonedTime(Date.parse(time)))
}

function piece(value: Toned | number | null | undefined): Piece {
  if (value === null || value === undefined || value === '') return '—'
  if (typeof value === 'number') return count(value)
  return typeof value === 'string' ? shownText(value) : { ...value, text: shownText(value.text) }
}

const looks: Readonly<Record<NounColumn<unknown>['kind'], Omit<ScreenColumn<never>, 'title' | 'value' | 'drop'>>> = {
  id: { exact: true },
  state: {},
  name: { min: 12 },
  word: { min: 8 },
  money: { align: 'right', exact: true },
  count: { align: 'right' },
  time: {},
  age: { align: 'right' },
}
/** Ids are dropped before all other columns. */
const ID_DROP = 9

/** The columns of a noun on a screen. The state comes first, the id last. */
export function screenColumns<R>(
  noun: Pick<Noun<R>, 'columns' | 'stateOf'>,
  now: number | undefined,
): readonly ScreenColumn<R>[] {
  const { stateOf } = noun
  const columns = columnsIn(noun.columns, 'screen').filter(({ kind }) => kind !== 'state')
  const [ids, others] = [columns.filter(({ kind }) => kind === 'id'), columns.filter(({ kind }) => kind !== 'id')]
  const status = noun.columns.find(({ kind }) => kind === 'state')
  const state: ScreenColumn<R>[] =
    stateOf === undefined
      ? []
      : [{ title: 'STATE', value: (row) => piece(stateOf(row, now)), plain: status && plainOf(status, now) }]
  return [...state, ...[...others, ...ids].map((column) => screenColumn(column, now))]
}

/** The value of a column for programs, without signs. */
function plainOf<R>(column: NounColumn<R>, now: number | undefined): NonNullable<ScreenColumn<R>['plain']> {
  return (row) => {
    if (column.plain) return column.plain(row)
    const shown = textOf(column.value(row, now))
    return typeof shown === 'string' ? shown.replace(/^(?:→ |\$)/, '') : shown
  }
}

function screenColumn<R>(column: NounColumn<R>, now: number | undefined): ScreenColumn<R> {
  const { title, all = title, kind, value, min, drop = kind === 'id' ? ID_DROP : undefined } = column
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
    plain: plainOf(column, now),
    ...compact({ drop, min }),
  }
}
