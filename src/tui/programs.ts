import { isObject } from '../core/json.ts'
import { count, safe, shellWord, wrap } from '../text/text.ts'
import { dim, type Line } from './parts/line.ts'
import { askAnyway, refuse, showToast } from './shell/ask.ts'
import type { Runbook } from './shell/bindings.ts'
import { showLines } from './shell/commands.ts'
import { allRows, ndjsonOf } from './shell/rows.ts'
import type { Host, ProgramEnd } from './shell/screen.ts'
import { chosenIndex } from './shell/ui.ts'

/** Limit of a value in a runbook. */
const VALUE_CHARS_MAX = 1_000
const NO_PROGRAMS = 'This cockpit cannot run programs.'
const READ_ONLY = 'This cockpit is read-only: it runs no program.'
const BUSY = 'A command is running: ctrl-c ends it.'

function showEnd(host: Host, title: string, { text, problem }: ProgramEnd): void {
  const why = problem === '' ? [] : [`✗ ${problem}`]
  const said = text.trimEnd() === '' ? [] : [text.trimEnd()]
  if (why.length + said.length > 0) showLines(host, title, [...said, ...why].join('\n'))
  else showToast(host, { text: `✓ ${safe(title)}: no output`, tone: 'good', stays: false })
}

/** Runs a shell command with the rows of the list as NDJSON on its input, and shows its output. */
export async function pipeRows(host: Host, line: string): Promise<void> {
  const { programs } = host
  const { list } = host.face.current
  if (host.readonly) refuse(host, READ_ONLY)
  else if (programs === undefined) refuse(host, NO_PROGRAMS)
  else if (programs.isBusy()) refuse(host, BUSY)
  else {
    showToast(host, { text: `● ! ${line}`, tone: 'dim', stays: true })
    const end = await programs.run({
      words: ['/bin/sh', '-c', `exec 2>&1\n${line}`],
      async input(signal) {
        if (list === undefined) return { ok: true, value: '' }
        const all = await allRows(list, signal)
        if (!all.ok) return all
        showToast(host, { text: `● ! ${line}   ${all.value.words}, ctrl-c ends it`, tone: 'dim', stays: true })
        return { ok: true, value: ndjsonOf(all.value.rows) }
      },
    })
    host.ui.set({ ...host.ui.get(), toast: undefined })
    showEnd(host, `! ${line}`, end)
  }
}

/** Asks before it runs a runbook for the chosen row. */
export function askRunbook(host: Host, { name, title, command }: Runbook): void {
  const { programs, face } = host
  const id = face.current.ids[chosenIndex(host.ui.get(), face.current.ids)] ?? ''
  const row = { id, record: face.current.list?.rows().find((one) => one.id === id)?.record }
  const faults: string[] = []
  const [program = '', ...rest] = command.map((_, at) => wordOf(host, { command, at, row, faults }))
  const [fault] = faults
  if (programs === undefined || fault !== undefined) {
    refuse(host, fault === undefined ? NO_PROGRAMS : `${name}: ${fault}`)
    return
  }
  const line = [program, ...rest].map(shellWord).join(' ')
  const shown = (width: number) => wrap(line, width - 2).map((text): Line => [dim('$ '), text])
  askAnyway(host, {
    title: `RUN ${name}`,
    heading: title,
    as: 'you, on this machine',
    evidence: { name: `runbook ${line}`, fetch: async () => ({ ok: true, value: shown }) },
    facts: () => [['What it does', 'runs this program, without keys and secrets in its environment']],
    verb: 'Run',
    command: () => line,
    async send() {
      if (programs.isBusy()) return { ok: true, value: { text: BUSY, tone: 'warn' } }
      const words = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', program, ...rest] as const
      const end = await programs.run({ words, input: async () => ({ ok: true, value: '' }) })
      showEnd(host, `$ ${line}`, end)
      return { ok: true, value: end.problem === '' ? `${name} has ended.` : { text: `✗ ${end.problem}`, tone: 'bad' } }
    },
  })
}

type Row = { readonly id: string; readonly record: unknown }
type Place = { readonly command: readonly string[]; readonly at: number; readonly row: Row; readonly faults: string[] }

const PLACE = /\{(\{?)([a-z_]\w*(?:\.\w+)*)\}\}?/gi
/** Characters that a shell reads only as text. */
const HARMLESS = /^[\w.:@+/-]*$/
/** Programs that hand their words to a shell, and options whose next word is code. */
const REREADS: ReadonlySet<string> = new Set(['ssh', 'su', 'eval', 'watch', 'xargs', 'parallel', 'mosh', 'script'])
const CODE_OPTION = /^(?:-\w*[cEer]|--(?:command|eval|exec|expression))$/

/**
 * A word of a runbook with the values of a row. Values are foreign text: one that a shell could read as code, or a
 * program as an option, is a fault.
 */
function wordOf(host: Host, { command, at, row, faults }: Place): string {
  const template = command[at] ?? ''
  const before = command.slice(0, at)
  const isWhole = template.replace(PLACE, '') === '' && template.indexOf('{', 1) === -1
  const isReread = before.some((word) => REREADS.has(word.split('/').at(-1) ?? ''))
  const isCode = !isWhole || isReread || CODE_OPTION.test(before.at(-1) ?? '')
  const word = template.replace(PLACE, (found, brace: string, name: string) => {
    if (brace !== '') return found.slice(1, -1)
    const value = valueIn(host, row, name) ?? ''
    if (value === '') faults.push(`the selection has no {${name}}`)
    if (value.length > VALUE_CHARS_MAX) faults.push(`{${name}} has more than ${count(VALUE_CHARS_MAX)} characters`)
    if (isCode && !HARMLESS.test(value))
      faults.push(`{${name}} is ${shellWord(value)}, which a shell could run: make {${name}} a word of its own`)
    return value
  })
  if (word.startsWith('-') && !template.startsWith('-') && !before.includes('--'))
    faults.push(`${shellWord(word)} could be read as an option: put "--" before ${template}`)
  return word
}

/** A value of a row: `id`, `screen`, `instance`, or a member of its record such as `buyer.wallet`. */
function valueIn({ link, face }: Host, { id, record }: Row, name: string): string | undefined {
  const own = { id, screen: face.current.screen, instance: link.place.name }
  const found = name
    .split('.')
    .reduce<unknown>((at, member) => (isObject(at) && Object.hasOwn(at, member) ? at[member] : undefined), {
      ...ofObject(record),
      ...own,
    })
  return ['string', 'number', 'boolean'].includes(typeof found) ? safe(String(found)) : undefined
}

const ofObject = (value: unknown) => (isObject(value) ? value : {})
