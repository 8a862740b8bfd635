import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { globalOptions } from '../src/cli/globals.ts'
import { offered } from '../src/cli/nouns/offered.ts'
import type { Column } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { type Candidate, candidates, type WantedValues } from '../src/cli/run/completion.ts'
import type { Callable } from '../src/client/asked.ts'
import { isObject } from '../src/core/json.ts'
import { listSnapshots } from '../src/lifecycle/snapshots.ts'
import { clip, oneLine } from '../src/text/text.ts'

/** Default time limit for completion values: short, since a person is typing. */
const ANSWER_MS = 400
const SUMMARY_COLUMNS = 60
const SHOWN_MAX = 500
/** Global options that select the instance and the wallet. */
const WHERE = ['remote', 'baseUrl', 'instance', 'as', 'config', 'data']

type Context = CommandContext<unknown, { readonly scoped: boolean }>

const columns: readonly Column<Candidate>[] = [
  { title: 'WORD', value: ({ value }) => value },
  { title: 'WHAT', value: ({ summary }) => summary },
]

export const command = defineCommand({
  name: '__complete',
  summary: 'list completions for a partial command line (used by shells)',
  hidden: true,
  args: z.object({ words: z.list({ description: 'partial command line, after --' }) }),
  options: z.object({
    next: z.flag({ description: 'complete a new word after the last one' }),
    scoped: z.flag({ description: 'the global options in the line are already applied' }),
  }),
  ownForm: true,
  examples: ['souk __complete --json -- services l', 'souk __complete --json --next -- endpoints list --status'],
  async run(context): Promise<{ total: number; candidates: readonly Candidate[] }> {
    const words = context.options.next ? [...context.args.words, ''] : context.args.words
    if (!context.options.scoped) return scoped(context, words)
    const found = await candidates({ entries: context.entries, words, values: (wanted) => valuesOf(context, wanted) })
    const shown = found
      .slice(0, SHOWN_MAX)
      .map(({ value, summary }) => ({ value, summary: clip(oneLine(summary), SUMMARY_COLUMNS) }))
    return { total: shown.length, candidates: shown }
  },
  rows: ({ candidates: found }) => found,
  columns,
  view({ candidates: found }, io) {
    for (const { value, summary } of found) io.line(`${value}\t${summary}`)
  },
})

/** Runs the completion again under the typed instance and wallet options, since they decide which values exist. */
async function scoped(context: Context, words: readonly string[]) {
  const patience = context.globals.timeoutMs ?? ANSWER_MS
  const nothing = { total: 0, candidates: [] }
  const line = ['__complete', '--scoped', '--timeout', `${patience}ms`, ...whereIn(words.slice(0, -1)), '--', ...words]
  const asked = context.invoke(line).then(({ data }) => (isFound(data) ? data : nothing))
  // The shell cannot show an error during completion, so a failure returns no candidates.
  return asked.catch(() => nothing)
}

function isFound(data: unknown): data is { total: number; candidates: readonly Candidate[] } {
  return isObject(data) && Array.isArray(data.candidates)
}

/** The typed options that select the instance and the wallet, with their values. */
function whereIn(words: readonly string[]): string[] {
  const flags = globalOptions
    .filter(({ key }) => WHERE.includes(key))
    .map(({ flags: text }) => text.match(/--?[\w-]+/g) ?? [])
  return words.flatMap((word, at) => {
    const value = words[at + 1]
    if (flags.some((names) => names.some((name) => name.startsWith('--') && word.startsWith(`${name}=`)))) return [word]
    return flags.some((names) => names.some((name) => name === word)) && value !== undefined ? [word, value] : []
  })
}

/** Completion values; an empty list after a failure or at the time limit. */
async function valuesOf(context: Context, wanted: WantedValues): Promise<readonly Candidate[]> {
  if (wanted.command?.name === 'snapshots restore') {
    return listSnapshots(context).map(({ name, saved_at }) => ({ value: name, summary: saved_at }))
  }
  if (wanted.isOption && (wanted.member === 'fields' || wanted.member === 'jq')) return membersOf(wanted)
  const over = new AbortController()
  const late = context.system.sleep(context.globals.timeoutMs ?? ANSWER_MS, over.signal).then(() => [])
  // Failures offer nothing.
  const found = await Promise.race([offered(context, wanted).catch(() => []), late])
  over.abort()
  return found
}

/** Completes member names of a command's output for `--fields` or `--jq`, from the endpoint's schema or an example. */
async function membersOf({ command, member, begun }: WantedValues): Promise<readonly Candidate[]> {
  const like = command?.prints ?? command?.like
  if (like === undefined) return []
  const printed = typeof like === 'string' ? await shapeOfAnswer(like) : { shape: shapeOf(like), named: {} }
  return member === 'jq' ? pathsAfter(printed, begun) : fieldsAfter(printed, begun)
}

async function shapeOfAnswer(endpoint: Callable) {
  const { answerSchemas } = await import('../src/api/openapi/schemas.ts')
  const { answers, $defs: named } = answerSchemas([endpoint])
  return { shape: answers[endpoint], named }
}

function shapeOf(example: unknown): object {
  if (Array.isArray(example)) return { items: shapeOf(example[0]) }
  if (!isObject(example)) return {}
  return { properties: Object.fromEntries(Object.entries(example).map(([name, one]) => [name, shapeOf(one)])) }
}

/** Maximum number of references followed, since a shape may refer to itself. */
const STEPS_MAX = 20

type Shape = Readonly<Record<string, unknown>>

export type Printed = { readonly shape: unknown; readonly named: Readonly<Record<string, unknown>> }

/** Completes a `--fields` path with members of a row, or of the whole output if it has no rows. */
export function fieldsAfter({ shape, named }: Printed, begun: string): readonly Candidate[] {
  const at = begun.lastIndexOf(',') + 1
  const path = begun.slice(at).split('.')
  const rows = alternatives(shape, named).flatMap((one) => rowsOf(one, named))
  const reached = path.slice(0, -1).reduce((shapes, name) => shapes.flatMap((one) => memberOf(one, name, named)), rows)
  const lead = begun.slice(0, begun.length - (path.at(-1) ?? '').length)
  return namesOf(reached).map((name) => ({ value: lead + name, summary: '' }))
}

/** Completes the path at the end of a `--jq` expression. */
export function pathsAfter({ shape, named }: Printed, begun: string): readonly Candidate[] {
  const [path = ''] = /(?:\.\w*(?:\[\d*\])*)*$/.exec(begun) ?? []
  const before = begun.slice(0, begun.length - path.length)
  if (path === '' && /[\w\])}"]$/.test(before)) return []
  const at = path.lastIndexOf('.') + 1
  const lead = before + (path === '' ? '.' : path.slice(0, at))
  const steps = path.slice(0, Math.max(0, at - 1)).match(/\w+(?=[.[]|$)|\[\d*\]/g) ?? []
  const reached = steps.reduce(
    (shapes, step) =>
      shapes.flatMap((one) => (step.startsWith('[') ? itemsOf(one, named) : memberOf(one, step, named))),
    alternatives(shape, named),
  )
  return namesOf(reached).map((name) => {
    const isList = reached.flatMap((one) => memberOf(one, name, named)).some((one) => one.items !== undefined)
    return { value: `${lead}${name}${isList ? '[]' : ''}`, summary: isList ? 'every element of the list' : '' }
  })
}

/** A shape and all its alternatives, with references resolved. */
function alternatives(shape: unknown, named: Printed['named'], steps = 0): readonly Shape[] {
  if (!isObject(shape) || steps > STEPS_MAX) return []
  if (typeof shape.$ref === 'string') return alternatives(named[shape.$ref.split('/').at(-1) ?? ''], named, steps + 1)
  const parts = [shape.anyOf, shape.oneOf, shape.allOf].flatMap((one): readonly unknown[] =>
    Array.isArray(one) ? one : [],
  )
  return [shape, ...parts.flatMap((one) => alternatives(one, named, steps + 1))]
}

function memberOf({ properties }: Shape, name: string, named: Printed['named']): readonly Shape[] {
  return isObject(properties) && Object.hasOwn(properties, name) ? alternatives(properties[name], named) : []
}

function itemsOf({ items }: Shape, named: Printed['named']): readonly Shape[] {
  return alternatives(items, named)
}

/** Shapes of the rows, if the output is a list or an object around a list; otherwise the shape itself. */
function rowsOf(shape: Shape, named: Printed['named']): readonly Shape[] {
  if (shape.items !== undefined) return itemsOf(shape, named)
  const names = namesOf([shape])
  if (!names.includes('total') && !names.includes('next_cursor')) return [shape]
  const lists = names.filter((name) => memberOf(shape, name, named).some(({ items }) => items !== undefined))
  if (lists.length !== 1) return [shape]
  return memberOf(shape, lists[0] ?? '', named).flatMap((one) => itemsOf(one, named))
}

function namesOf(shapes: readonly Shape[]): readonly string[] {
  return [...new Set(shapes.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))]
}
