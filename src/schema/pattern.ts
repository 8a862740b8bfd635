import { RE2JS } from 're2js'
import { MAX_PATTERN_CHARS, MAX_PATTERN_INSTRUCTIONS, MAX_VALIDATION_STEPS } from './limits.ts'

/** Thrown inside a validation that would cost more than its budget; never leaves the engine. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

let stepsUsed = 0

/** Pays for work before it is done; validations are synchronous, so one counter serves them all. */
export function charge(steps: number): void {
  if (stepsUsed + steps > MAX_VALIDATION_STEPS) throw new BudgetSpent('validation budget spent')
  stepsUsed += steps
}

/** Opens the budget of the next validation. */
export function openBudget(): void {
  stepsUsed = 0
}

/** What Ajv needs of a regular expression. */
export type Pattern = { test(text: string): boolean; toString(): string }

/**
 * Compiles a pattern for matching in linear time. Look-around and back references are not regular and refused.
 * @throws Error whose message says what is wrong with the pattern.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`must have at most ${MAX_PATTERN_CHARS} characters`)
  const compiled = compileLinear(source)
  const instructions = compiled.programSize()
  if (instructions > MAX_PATTERN_INSTRUCTIONS) throw new Error('repeats too much: its program is too large')
  return {
    test(text) {
      charge(instructions * (text.length + 1))
      return compiled.test(text)
    },
    // Ajv shares patterns by their text; the inherited toString would make them all one.
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

/** The `code.regExp` hook of Ajv; `code` is the text that stands for it in generated source. */
export const patternEngine = Object.assign((source: string) => compilePattern(source), { code: 'compilePattern' })
