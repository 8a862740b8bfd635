import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalidField } from '../../src/core/error.ts'
import { costlyPart } from '../../src/core/json-cost.ts'
import { MAX_JSON_DEPTH } from '../../src/core/limits.ts'

/**
 * Refuses JSON that is nested too deep or holds invalid Unicode. Iterative, so it cannot overflow the stack.
 * @throws AppError 400 that names the member, or the body
 */
export function checkJson(document: unknown): void {
  let level: unknown[] = [document]
  for (let depth = 0; level.length > 0; depth++) {
    if (level.some(isIllFormed)) throw invalidField(pathOfIllFormed(document) ?? 'body', 'is not well-formed Unicode')
    const nested = level.filter(isNested)
    if (depth >= MAX_JSON_DEPTH && nested.length > 0) {
      throw invalidField('body', `is nested more than ${MAX_JSON_DEPTH} levels deep`)
    }
    level = nested.flatMap((node) => (Array.isArray(node) ? node : [...Object.keys(node), ...Object.values(node)]))
  }
}

/** @throws AppError 400 for a body that is too costly to parse */
export function refuseCostly(text: Uint8Array): void {
  const part = costlyPart(text)
  if (part !== undefined) throw invalidField('body', part)
}

/** Bodies from this size on are processed in their own event loop turn. */
const LONG_BODY_BYTES = 64 * 1024

/** Waits for a new event loop turn before a long body is traversed again, such as for a fingerprint. */
export async function turnFor(header: (name: string) => string | undefined): Promise<void> {
  const isLong = Number(header('content-length') ?? 0) >= LONG_BODY_BYTES
  if (isLong || header('transfer-encoding') !== undefined) await nextTurn()
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isIllFormed(value: unknown): boolean {
  return typeof value === 'string' && !value.isWellFormed()
}

/** Path of the first member whose text is invalid Unicode; undefined if there is none. */
function pathOfIllFormed(node: unknown, depth = 0): string | undefined {
  if (!isNested(node) || depth > MAX_JSON_DEPTH) return undefined
  for (const [name, value] of Object.entries(node)) {
    if (isIllFormed(value)) return name.toWellFormed()
    const below = pathOfIllFormed(value, depth + 1)
    if (below !== undefined) return `${name.toWellFormed()}.${below}`
  }
  return undefined
}
