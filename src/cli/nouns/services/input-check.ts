import type { ErrorDetail } from '../../../core/error.ts'
import { isObject } from '../../../core/json.ts'
import { clip, shellLine, shellWord } from '../../../text/text.ts'
import { type CliError, usage } from '../../exit.ts'
import { inputLines, type ReadInput, unknownNames } from './input.ts'
import type { Listing } from './services.ts'

/** Maximum number of characters of an input value that a message shows. */
const SHOWN_CHARS_MAX = 60

/**
 * Checks input before it is sent, as the instance checks it. If the schema does not compile, nothing is checked here.
 * @throws CliError `usage` with the fault and the allowed values
 */
export async function checkInput(listing: Listing, { input, unknown }: ReadInput): Promise<void> {
  const faults = await faultsOf(listing.input_schema, input)
  const lacking = faults.filter(({ message }) => message === 'is required').map(({ path }) => path)
  const wrong = faults.filter(({ message }) => message !== 'is required')
  const slips = unknownNames(listing.input_schema, unknown)
  if (faults.length === 0) return checkNames(listing, unknown)
  const [first, ...others] = wrong
  if (first !== undefined) {
    throw refused(listing, faultWords(listing, input, first), [
      ...others.map(({ path, message }) => `${path} ${message}`),
      ...(lacking.length === 0 ? [] : [`it also needs ${lacking.join(', ')}`]),
      ...(slips.length === 0 ? [] : [`also unknown: ${slips.join(', ')}`]),
    ])
  }
  throw incomplete(listing, lacking, slips)
}

/** @throws CliError `usage` for a name that the schema does not have */
export function checkNames(listing: Listing, unknown: ReadInput['unknown']): void {
  const slips = unknownNames(listing.input_schema, unknown)
  if (slips.length === 0) return
  throw refused(listing, `does not accept ${slips.join(', ')}.`, [
    `it takes: ${Object.keys(propertiesIn(listing)).join(', ')}`,
    'use --input-file for fields that the schema does not list',
  ])
}

async function faultsOf(schema: unknown, input: ReadInput['input']): Promise<readonly ErrorDetail[]> {
  const { compileInputSchema, unwrapBrief } = await import('../../../schema/schema.ts')
  try {
    const checked = compileInputSchema(schema).validate(unwrapBrief(schema, input))
    return checked.ok ? [] : checked.details
  } catch {
    // The schema does not compile; the instance checks the input before charging.
    return []
  }
}

function refused({ name, id }: Listing, words: string, facts: readonly string[]): CliError {
  return usage(`"${name}" ${words}`, { facts, next: [shellLine`souk services view ${id} --schema`] })
}

function incomplete(
  { name, id, input_schema }: Listing,
  lacking: readonly string[],
  slips: readonly string[],
): CliError {
  return usage(`"${name}" needs ${lacking.join(', ')}.`, {
    facts: [...(slips.length === 0 ? [] : [`also unknown: ${slips.join(', ')}`]), ...inputLines(input_schema)],
    next: [shellLine`souk services view ${id} --example`, `… -i ${shellWord(`${lacking[0]}=VALUE`)}`],
  })
}

function propertiesIn({ input_schema: { properties } }: Listing): Readonly<Record<string, unknown>> {
  return isObject(properties) ? properties : {}
}

/** The fault of a value in words, such as `needs targetLufs between -24 and -12; you gave -6.` */
function faultWords(listing: Listing, input: ReadInput['input'], { path, message }: ErrorDetail): string {
  const found = propertiesIn(listing)[path]
  const { minimum, maximum } = isObject(found) ? found : {}
  const given = input[path] === undefined ? '' : `; you gave ${clip(JSON.stringify(input[path]), SHOWN_CHARS_MAX)}`
  const isRange = typeof minimum === 'number' && typeof maximum === 'number' && /must be at (least|most)/.test(message)
  if (isRange) return `needs ${path} between ${minimum} and ${maximum}${given}.`
  return path === '' ? `refuses the input: it ${message}.` : `needs another ${path}: it ${message}${given}.`
}
