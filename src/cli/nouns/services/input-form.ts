import { isObject } from '../../../core/json.ts'
import { harmless, oneLine } from '../../../text/text.ts'
import { CliError, usage } from '../../exit.ts'
import type { Io } from '../../io.ts'
import { exampleOf, inputFrom, inputNames, type ReadInput } from './input.ts'
import { checkInput } from './input-check.ts'
import type { Listing } from './services.ts'

const MEMBERS_MAX = 100
const TRIES_MAX = 5

/**
 * Asks for the input that is missing, and shows type, choices, bounds, default and example of each member.
 * @throws CliError `usage` without a terminal, or after too many invalid answers
 */
export async function askedInput(io: Io, listing: Listing, given: ReadInput): Promise<ReadInput> {
  if (!io.canAsk)
    throw usage('A form needs a terminal.', { next: ['… -i name=value', `souk services view ${listing.id} --schema`] })
  const input: Record<string, unknown> = { ...given.input }
  for (const { name, summary, isNeeded } of inputNames(listing.input_schema).slice(0, MEMBERS_MAX)) {
    if (Object.hasOwn(input, name)) continue
    const value = await memberOf(io, listing, { name, summary, isNeeded })
    if (value !== undefined)
      Object.defineProperty(input, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return { ...given, input }
}

/** Without a schema: asks for `name=value` until an empty answer. @throws CliError `usage` without a terminal */
export async function askedMembers(io: Io, given: ReadInput['input']): Promise<ReadInput['input']> {
  if (!io.canAsk) throw usage('A form needs a terminal.', { next: ['… -i name=value'] })
  let input = given
  for (let asked = 0; asked < MEMBERS_MAX; asked += 1) {
    const answer = await io.ask('name=value (empty to continue):', { flag: '-i NAME=VALUE' })
    if (answer.trim() === '') break
    try {
      input = { ...input, ...inputFrom({}, [answer.trim()]).input }
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      io.warn(harmless(`✗ ${error.message}`))
    }
  }
  return input
}

type Member = { readonly name: string; readonly summary: string; readonly isNeeded: boolean }

/** Asks for one member and checks the answer by its schema. An empty answer skips an optional member. */
async function memberOf(io: Io, listing: Listing, member: Member): Promise<unknown> {
  const { name, isNeeded } = member
  const schema = partOf(listing, member)
  const question = questionFor(member, schema)
  let last: unknown
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await io.ask(question, { flag: `-i ${name}=VALUE` })
    if (answer === '' && !isNeeded) return undefined
    const read = inputFrom(schema, answer === '' ? [] : [`${name}=${answer}`])
    try {
      await checkInput({ ...listing, input_schema: schema }, read)
      return read.input[name]
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      last = error
      io.warn(harmless(`✗ ${error.message}`))
    }
  }
  throw last
}

function partOf({ input_schema: { properties } }: Listing, { name, isNeeded }: Member) {
  const one = isObject(properties) && isObject(properties[name]) ? properties[name] : {}
  return { type: 'object', properties: { [name]: one }, ...(isNeeded ? { required: [name] } : {}) }
}

function questionFor({ name, summary, isNeeded }: Member, schema: ReturnType<typeof partOf>): string {
  const example = isNeeded ? `, such as ${JSON.stringify(exampleOf(schema)[name])}` : ''
  return oneLine(harmless(`${name}${isNeeded ? '*' : ''} (${summary}${example}):`))
}
