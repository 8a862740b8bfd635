import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Jq } from 'jq-wasm'
import { isObject, type Json, parseJson } from '../core/json.ts'
import { jsonText } from '../text/text.ts'
import { usage } from './exit.ts'

/** A path such as `.jobs[0].id`, and its steps. */
const PATH = /^\.(?:(?:[A-Za-z_]\w*|\[\d*\])(?:\.[A-Za-z_]\w*|\[\d*\])*)?$/
const STEP = /[A-Za-z_]\w*|\[\d*\]/g

/**
 * Filters a value by jq. Most filters are paths, which are followed here: jq takes a tenth of a second to load.
 * @throws CliError `usage` with the words of jq, and the place of what it does not understand
 */
export async function runJq(expression: string, value: unknown): Promise<readonly Json[]> {
  const text = jsonText(value)
  const found = PATH.test(expression) ? followed(parseJson(text), expression.match(STEP) ?? []) : undefined
  return found ?? filtered(await loaded(), expression, text)
}

/** Undefined if a step does not fit its value, which is for jq to explain. */
function followed(value: Json, path: readonly string[]): readonly Json[] | undefined {
  let values: readonly Json[] = [value]
  for (const step of path) {
    const next = values.map((one) => reached(one, step))
    if (next.includes(undefined)) return undefined
    values = next.flatMap((one) => one ?? [])
  }
  return values
}

function reached(value: Json, step: string): readonly Json[] | undefined {
  if (step === '[]') return Array.isArray(value) || isObject(value) ? Object.values(value) : undefined
  if (value === null) return [null]
  if (step.startsWith('[')) return Array.isArray(value) ? [value[Number(step.slice(1, -1))] ?? null] : undefined
  if (!isObject(value)) return undefined
  return [Object.hasOwn(value, step) ? (value[step] as Json) : null] // a member of JSON
}

let jq: Promise<Jq> | undefined

function loaded(): Promise<Jq> {
  // A path, because the file system of a one-file program knows no URLs.
  const beside = fileURLToPath(new URL('./jq.wasm', import.meta.url))
  const file = existsSync(beside) ? beside : createRequire(import.meta.url).resolve('jq-wasm/jq.wasm')
  jq ??= import('jq-wasm').then(({ loadJq }) => loadJq({ wasmBinary: readFileSync(file) }))
  return jq
}

/** Runs jq. It blocks this thread, so meanwhile ctrl-c ends the process at once. */
function filtered({ json }: Jq, expression: string, text: string): readonly Json[] {
  const handlers = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT')
  try {
    return json(text, expression)
  } catch (error) {
    const [line = ''] = String(error instanceof Error && 'stderr' in error ? error.stderr : error).split('\n')
    throw usage(
      `--jq: ${line.replace(/^jq: error(?: \(at \S+\))?(?: \(not a string\))?: | at <top-level>|:$/g, '')}.`,
      { cause: error },
    )
  } finally {
    for (const handler of handlers) process.on('SIGINT', handler)
  }
}
