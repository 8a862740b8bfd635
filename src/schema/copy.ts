import type { ErrorDetail } from '../core/error.ts'
import { isCanonical, joinPath, MAX_JSON_DEPTH } from './limits.ts'

export type SchemaRefusal = { readonly ok: false; readonly details: readonly ErrorDetail[] }
export type JsonCopy = { readonly ok: true; readonly value: unknown; readonly nodes: number } | SchemaRefusal

type Walk = { nodes: number; readonly trail: (string | number)[]; fault: ErrorDetail | undefined }

/** Copies JSON so that defaults can be filled in. Counts nodes, limits depth and refuses `__proto__`. */
export function copyJson(value: unknown): JsonCopy {
  const walk: Walk = { nodes: 0, trail: [], fault: undefined }
  const copied = copyNode(walk, value)
  return walk.fault === undefined
    ? { ok: true, value: copied, nodes: walk.nodes }
    : { ok: false, details: [walk.fault] }
}

function copyNode(walk: Walk, value: unknown): unknown {
  walk.nodes += 1
  if (!isCanonical(value)) return fail(walk, 'is broken Unicode, or a number too large for JSON')
  if (typeof value !== 'object' || value === null || walk.fault !== undefined) return value
  if (walk.trail.length > MAX_JSON_DEPTH) return fail(walk, `is nested more than ${MAX_JSON_DEPTH} deep`)
  if (Array.isArray(value)) return value.map((item, i) => copyMember(walk, i, item))
  const copied: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    copied[name === '__proto__' ? '' : name] = copyMember(walk, name, member)
  }
  return copied
}

function copyMember(walk: Walk, name: string | number, member: unknown): unknown {
  walk.trail.push(name)
  const copied =
    name !== '__proto__' && isCanonical(name) ? copyNode(walk, member) : fail(walk, 'is not an allowed name')
  walk.trail.pop()
  return copied
}

function fail(walk: Walk, message: string): null {
  const [first = '', ...rest] = walk.trail
  walk.fault ??= { path: rest.reduce<string>(joinPath, String(first)), message }
  return null
}
