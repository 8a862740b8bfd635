import { isObject } from '../../core/json.ts'
import type { Candidate } from './completion.ts'

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
