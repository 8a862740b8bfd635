import { RE2JS } from 're2js'
import { MAX_PATTERN_CHARS, MAX_PATTERN_INSTRUCTIONS } from './limits.ts'
import { charge } from './meter.ts'

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
