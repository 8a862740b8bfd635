import { readFileSync } from 'node:fs'
import { isObject } from '../../core/json.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'

/** What a person wrote, as it is sent: the instance says what is wrong with it. */
export function unjudged<T extends object>(given: Readonly<Record<string, unknown>>): T {
  return given as T
}

/** Reads a file that holds one JSON object, `-` for stdin; `what` says of what. @throws CliError usage */
export async function readObjectFile(io: Io, file: string, what: string): Promise<Record<string, unknown>> {
  const text = file === '-' ? await io.stdin() : readText(file)
  const document = parse(text, file)
  if (!isObject(document)) throw usage(`${file} must hold one JSON object, ${what}.`)
  return { ...document }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
