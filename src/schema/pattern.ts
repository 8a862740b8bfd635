import { RE2JS } from 're2js'
import { MAX_PATTERN_CHARS, MAX_PATTERN_INSTRUCTIONS, MAX_VALIDATION_STEPS } from './limits.ts'

/** Thrown when a validation exceeds its budget. Always caught inside this folder. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

let stepsUsed = 0

/**
 * Counts the steps of the work that follows. Validations are synchronous, so one counter is enough.
 * @throws BudgetSpent
 */
export function charge(steps: number): void {
  if (stepsUsed + steps > MAX_VALIDATION_STEPS) throw new BudgetSpent('validation budget spent')
  stepsUsed += steps
}

/** Resets the budget. */
export function openBudget(): void {
  stepsUsed = 0
}

/** Regular expression interface for Ajv. */
export type Pattern = { test(text: string): boolean; toString(): string }

/** Compiles a linear-time pattern: no look-around, no back references. @throws Error whose message is the fault */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`must have at most ${MAX_PATTERN_CHARS} characters`)
  const compiled = compileLinear(source)
  const instructions = compiled.programSize()
  if (instructions > MAX_PATTERN_INSTRUCTIONS) throw new Error('has too many repetitions')
  return {
    test(text) {
      charge(instructions * (text.length + 1))
      return compiled.test(text)
    },
    // Ajv caches patterns by this text.
    toString: () => `re2:${source}`,
  }
}

function compileLinear(source: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (cause) {
    throw new Error('is not supported (no look-around, no back references)', { cause })
  }
}

/** Ajv's `code.regExp` hook. Ajv writes the text of `code` into the validators that it generates. */
export const patternEngine = Object.assign((source: string) => compilePattern(source), { code: 'compilePattern' })
