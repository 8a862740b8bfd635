import { dollars, microOf } from '../../text/columns.ts'
import { count } from '../../text/text.ts'
import { askUser, refuse } from './ask.ts'
import type { DialogSpec, Field } from './dialog.ts'
import type { Host } from './screen.ts'
import { choose, chosenIndex, type Ui } from './ui.ts'

/** Limit on rows that one dialog changes. Each row needs its own request. */
const TOGETHER_MAX = 50
const NAMED = 5

/** Marked ids in list order. */
export function markedIn(ui: Ui, ids: readonly string[]): readonly string[] {
  const marked = new Set(ui.marked[ui.screen] ?? [])
  return ids.filter((id) => marked.has(id))
}

/** Marks the chosen row, or removes its mark, and moves the cursor down. */
export function markChosen(ui: Ui, ids: readonly string[]): Ui {
  const at = chosenIndex(ui, ids)
  const id = ids[at]
  if (id === undefined) return ui
  const marked = ui.marked[ui.screen] ?? []
  const next = marked.includes(id) ? marked.filter((one) => one !== id) : [...marked, id]
  return choose({ ...ui, marked: { ...ui.marked, [ui.screen]: next } }, ids, at + 1)
}

/** Marks all rows of the page. If all are marked, removes their marks. */
export function markAll(ui: Ui, ids: readonly string[]): Ui {
  const isAll = ids.length > 0 && markedIn(ui, ids).length === ids.length
  return { ...ui, marked: { ...ui.marked, [ui.screen]: isAll ? [] : ids } }
}

/** The rows that an action applies to: the marked ones, else the chosen one. */
export function meant<T>(ui: Ui, rows: readonly T[], idOf: (row: T) => string): readonly T[] {
  const ids = rows.map(idOf)
  const marked = new Set(markedIn(ui, ids))
  if (marked.size > 0) return rows.filter((row) => marked.has(idOf(row)))
  return rows.slice(chosenIndex(ui, ids), chosenIndex(ui, ids) + 1)
}

/** Asks once for several changes, with `askAnyway` if they need no admin key. Makes them one by one, reports failures. */
export function askAll(host: Host, specs: readonly DialogSpec[], put: typeof askUser = askUser): void {
  const [first] = specs
  if (first === undefined) return
  if (specs.length > TOGETHER_MAX)
    refuse(host, `${count(specs.length)} rows are marked: at most ${TOGETHER_MAX} at once.`)
  else put(host, specs.length === 1 ? first : together(first, specs))
}

/** Asks once for the changes of several rows. */
export function askEach<R>(host: Host, rows: readonly R[], specOf: (host: Host, row: R) => DialogSpec): void {
  const specs = rows.map((row) => specOf(host, row))
  askAll(host, specs)
}

function together(
  { evidence: _evidence, heading: _heading, next: _next, ...first }: DialogSpec,
  specs: readonly DialogSpec[],
): DialogSpec {
  return {
    ...first,
    title: `${first.title} × ${specs.length}`,
    facts: () => [
      ['marked', `${count(specs.length)}${sumOf(specs)}`],
      ...specs.slice(0, NAMED).map(({ about = '', title }): readonly [string, string] => ['', about || title]),
      ...(specs.length > NAMED ? [['', `and ${count(specs.length - NAMED)} more`] as const] : []),
    ],
    fields: (first.fields ?? []).map((field) => ofAll(field, specs)),
    verb: `${first.verb} all`,
    command: (values) => specs.map(({ command }) => command(values)).join(' && '),
    async send(values) {
      const wrong: string[] = []
      for (const { about = '', send } of specs) {
        const answer = await send(values)
        if (!answer.ok) wrong.push(`${about}: ${answer.problem.sentence}`)
      }
      const done = `${count(specs.length - wrong.length)} of ${count(specs.length)} done`
      return {
        ok: true,
        value: wrong.length === 0 ? `${done}.` : { text: `✗ ${done}. ${wrong.join('  ')}`, tone: 'bad' },
      }
    },
  }
}

/** A field for several changes at once. Its value must be valid for each of them. */
function ofAll({ wordsOf: _wordsOf, ...field }: Field, specs: readonly DialogSpec[]): Field {
  const all = specs.flatMap(({ fields = [] }) => fields.filter(({ name }) => name === field.name))
  return {
    ...field,
    check(value, values) {
      for (const { check } of all) {
        const wrong = check(value, values)
        if (wrong !== undefined) return wrong
      }
      return undefined
    },
  }
}

function sumOf(specs: readonly DialogSpec[]): string {
  const amounts = specs.flatMap(({ amount }) => (amount === undefined ? [] : [microOf(amount) ?? 0n]))
  if (amounts.length === 0) return ''
  return `, ${dollars(amounts.reduce((sum, one) => sum + one, 0n))} in all`
}
