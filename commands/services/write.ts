import { readFileSync } from 'node:fs'
import type { Request } from '../../src/api/endpoint.ts'
import type { Api } from '../../src/api/index.ts'
import { usage } from '../../src/cli/exit.ts'
import type { Io } from '../../src/cli/io.ts'
import { isObject } from '../../src/cli/output.ts'

export type NewListing = Request<Api['createService']>['body']
export type ListingChange = NonNullable<Request<Api['updateService']>['body']>

/** Reads a listing file, `-` for stdin. The instance checks its fields and names those at fault. */
export async function readListingFile(io: Io, file: string): Promise<Record<string, unknown>> {
  const text = file === '-' ? await io.stdin() : readText(file)
  const document = parse(text, file)
  if (!isObject(document)) throw usage(`${file} must hold one JSON object, the listing.`)
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

/** `price=0.50 tags=["a"]`: JSON where it reads as JSON, else text. */
export function readSettings(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw usage(`"${pair}" must be like price=0.50.`)
      return [pair.slice(0, at), value(pair.slice(at + 1))]
    }),
  )
}

function value(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the text itself is meant.
    return text
  }
}
