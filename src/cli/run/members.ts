import { isObject } from '../../core/json.ts'
import type { Candidate } from './completion.ts'

/** Limit of reference steps, since shapes may be recursive. */
const STEPS_MAX = 20

type Shape = Readonly<Record<string, unknown>>

export type Printed = { readonly shape: unknown; readonly named: Readonly<Record<string, unknown>> }

/** Completions of `--fields`: members of a row, or of the whole output. */
export function fieldsAfter({ shape, named }: Printed, begun: string): readonly Candidate[] {
  const at = begun.lastIndexOf(',') + 1
  const path = begun.slice(at).split('.')
  const rows = alternatives(shape, named).flatMap((one) => rowsOf(one, named))
  const reached = path.slice(0, -1).reduce((shapes, name) => shapes.flatMap((one) => memberOf(one, name, named)), rows)
  const lead = begun.slice(0, begun.length - (path.at(-1) ?? '').length)
  return namesOf(reached).map((name) => ({ value: lead + name, summary: '' }))
}

/** Completions of a path at the end of `--jq`. */
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

/** Alternatives of a shape, references resolved. */
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

/** Row shapes of a list or envelope. */
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
