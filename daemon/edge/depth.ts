import { AppError } from '../../src/core/error.ts'
import { MAX_JSON_DEPTH } from '../../src/core/limits.ts'

/** @throws AppError 400 on JSON nested deeper than any schema should have to walk; iterative, so it cannot overflow. */
export function checkDepth(document: unknown): void {
  let level: object[] = isNested(document) ? [document] : []
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) {
      throw new AppError('invalid_request', `The body is nested more than ${MAX_JSON_DEPTH} levels deep.`)
    }
    level = level.flatMap((node) => Object.values(node).filter(isNested))
  }
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
