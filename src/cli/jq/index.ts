import { type Json, parseJson } from '../../core/json.ts'
import { jsonText } from '../../text/text.ts'
import { usage } from '../exit.ts'
import { checkNames, evaluate } from './evaluate.ts'
import { parse } from './parse.ts'
import { JqError } from './values.ts'

/**
 * Filters a value by a jq subset (`souk help formatting`).
 * @throws CliError `usage` for an unsupported part, with its position, and for a wrong type
 */
export function runJq(expression: string, value: unknown): readonly Json[] {
  const node = parse(expression)
  checkNames(node)
  try {
    return evaluate(node, parseJson(jsonText(value)))
  } catch (error) {
    if (error instanceof JqError) throw usage(`--jq: ${error.message}.`, { cause: error })
    throw error
  }
}
