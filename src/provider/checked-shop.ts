import { spawnSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { CommandContext } from '../cli/command.ts'
import { CliError, usage } from '../cli/exit.ts'
import { readObjectFile, unjudged } from '../cli/files/document.ts'
import type { Session } from '../cli/session.ts'
import { pairOf, splitWords } from '../cli/split-words.ts'
import type { SentBody } from '../client/asked.ts'
import { SHARED_FOLDER_MODE } from '../client/whole-file.ts'
import { isId } from '../client/wire-id.ts'
import { AppError } from '../core/error.ts'
import { makeFolder } from '../core/folder.ts'
import { parsePrice } from '../core/price.ts'
import { compact } from '../core/record.ts'
import { type DeliverForm, deliverForms, type ProgramLine } from './worker.ts'

type ShopOptions = {
  readonly exec: string
  readonly shell: boolean
  readonly cwd?: string | undefined
  readonly env: readonly string[]
  readonly deliver: string
  readonly listing?: string | undefined
  readonly name?: string | undefined
  readonly watch: boolean
  readonly practice: 'changed' | 'always' | 'never'
  readonly practiceInput?: string | undefined
  readonly concurrency: number
  readonly timeout?: number | undefined
  readonly retries: number
  readonly retryDelay: number
  readonly once: boolean
}
export type ShopHost = CommandContext<{ readonly services: readonly string[] }, ShopOptions>

/** What the checks on this machine found. */
export type CheckedShop = {
  readonly program: FoundProgram
  /** Finds the program again after an edit. @throws CliError `usage` if it cannot run */
  readonly find: () => FoundProgram
  readonly env: Readonly<Record<string, string | undefined>>
  readonly deliver: DeliverForm
  readonly written: WrittenListing | undefined
  /** Input of the test purchase (default: an example made from the schema). */
  readonly input: Readonly<Record<string, unknown>> | undefined
}

/** Checks everything that can be checked before the start. @throws CliError `usage` */
export async function checkShop({ io, options, system, globals }: ShopHost): Promise<CheckedShop> {
  const variables = options.env.map((text) => pairOf(text, `--env must be name=value; you gave "${text}".`))
  const env = { ...system.env, ...Object.fromEntries(variables) }
  const find = () => findProgram({ line: options.exec, shell: options.shell, cwd: options.cwd, env })
  const program = find()
  const written = options.listing === undefined ? undefined : await readListing(io, options.listing)
  if (options.watch && options.listing === '-') throw usage('--watch needs a file: stdin is read once.')
  const { practiceInput } = options
  const input = practiceInput === undefined ? undefined : await readObjectFile(io, practiceInput, 'the input')
  // The folder for deliveries is created last, so that a refused start creates none. A dry run creates none either.
  return { program, find, env, written, input, deliver: formOf(options.deliver, globals.dryRun) }
}

function formOf(text: string, dryRun: boolean): DeliverForm {
  const form = deliverForms.find((one) => one === text)
  if (form !== undefined) return form
  // A folder must look like a path. Any other word is refused, since it may be a mistyped form.
  if (!/[/\\]|^\.+$/.test(text))
    throw usage(`--deliver must be ${deliverForms.join(', ')}, or a folder such as ./${text}; you gave "${text}".`)
  if (dryRun) return { root: resolve(text) }
  try {
    return { root: realpathSync(makeFolder(text, SHARED_FOLDER_MODE)) }
  } catch (error) {
    throw usage(`--deliver ${text} is not a folder: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const SHELL = '/bin/sh'
const CHECK_TIMEOUT_MS = 5_000
/** Maximum number of watched files per command line. */
const FILES_MAX = 16

/** A command that can run: the path of its program, and the files that its line names. */
type FoundProgram = { readonly path: string; readonly files: readonly string[] }

/**
 * Finds what a command line would run, without running it.
 * @throws CliError `usage` for a missing folder or program, or an invalid line
 */
function findProgram({ line, shell, cwd, env }: ProgramLine): FoundProgram {
  const folder = resolve(cwd ?? '.')
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`There is no folder ${cwd}, which --cwd names.`)
  const words = shell ? wordsOr(line) : splitWords(line)
  const [program = line] = words
  if (shell) checkShellLine(line)
  const path = shell ? SHELL : pathOf(program, { folder, env })
  const named = words.map((word) => resolve(folder, word)).filter(isFile)
  return { path, files: [...new Set([...(shell ? [] : [path]), ...named])].slice(0, FILES_MAX) }
}

function checkShellLine(line: string): void {
  const { status, stderr, error } = spawnSync(SHELL, ['-n', '-c', line], {
    timeout: CHECK_TIMEOUT_MS,
    encoding: 'utf8',
  })
  if (error) throw usage(`--shell needs ${SHELL}: ${error.message}`)
  if (status !== 0) throw usage(`The shell cannot read the command: ${stderr.trim().split('\n')[0]}`)
}

/** The words of a shell line; empty if the line cannot be split. */
function wordsOr(line: string): readonly string[] {
  try {
    return splitWords(line)
  } catch (error) {
    if (error instanceof CliError) return []
    throw error
  }
}

function pathOf(name: string, { folder, env }: { readonly folder: string; readonly env: ProgramLine['env'] }): string {
  const isPath = name.includes('/')
  const folders = isPath ? [''] : (env.PATH ?? '').split(delimiter).filter(Boolean)
  const places = folders.map((one) => (isAbsolute(name) ? name : resolve(folder, join(one, name))))
  const found = places.find(isFile)
  if (found === undefined) {
    const where = isPath ? `at ${places[0]}` : 'on PATH'
    throw usage(`There is no program ${name} ${where}; nothing was started.`, {
      facts: isPath ? ['paths are relative to the folder of the command (--cwd)'] : [],
    })
  }
  const runs = places.find(isRunnable)
  if (runs === undefined)
    throw usage(`${found} is not executable; nothing was started.`, { next: [`chmod +x ${found}`] })
  return runs
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return isFile(path)
  } catch {
    // The file is missing or not executable.
    return false
  }
}

const PAGE = 100
/** Maximum number of the seller's listings in which a name is searched. */
const LISTINGS_MAX = 10_000
const FAULTS_SHOWN = 10
const STATUSES: readonly unknown[] = ['active', 'inactive']

type Fields = Readonly<Record<string, unknown>>

/** The content of a listing file, after validation. */
export type WrittenListing = Awaited<ReturnType<typeof readListing>>

/**
 * Reads a listing file and validates its fields, price and schemas locally.
 * @throws CliError usage that names every faulty field
 */
export async function readListing(io: { stdin(): Promise<string> }, file: string) {
  const { id, status, ...fields } = withKind(await readObjectFile(io, file, 'the listing'))
  const faults = [...(await shapeFaults({ ...fields, ...compact({ status, id }) })), ...(await valueFaults(fields))]
  if (faults.length > 0) {
    throw usage(`${file} is not a valid listing; nothing was started.`, {
      facts: faults.slice(0, FAULTS_SHOWN),
      next: ['souk help services create'],
    })
  }
  return {
    /** Id of the listing (default: the seller's listing with the same name). */
    id: id === undefined ? undefined : String(id),
    name: String(fields.name),
    isActive: status !== 'inactive',
    isQuoted: fields.pricing_model === 'quote_required',
    fields,
  }
}

/** Sets the kind to `automated`, since a command does the work, unless the file states a kind. */
function withKind(document: Fields): Fields {
  const isSaid = document.fulfillment_type !== undefined || document.service_type !== undefined
  return isSaid ? document : { ...document, fulfillment_type: 'automated' }
}

async function shapeFaults(document: Fields): Promise<readonly string[]> {
  // The API contract validates the fields. It is loaded only here.
  const { NewListing } = await import('../api/sections/services.ts')
  const { id, status, ...fields } = document
  const parsed = NewListing.safeParse(fields)
  return [
    ...(id === undefined || isId('service', id) ? [] : ['id: must be like svc_0123456789abcdef']),
    ...(status === undefined || STATUSES.includes(status) ? [] : [`status: must be ${STATUSES.join(' or ')}`]),
    ...(parsed.success ? [] : parsed.error.issues.flatMap(faultsIn)),
  ]
}

function faultsIn(issue: z.core.$ZodIssue): readonly string[] {
  const place = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => `${name}: unknown field`)
  return [`${place}: ${issue.message}`]
}

async function valueFaults(fields: Fields): Promise<readonly string[]> {
  const { compileDeliverableSchema, compileInputSchema } = await import('../schema/schema.ts')
  const price = () => {
    if (fields.price === undefined && fields.pricing_model !== 'quote_required')
      throw new AppError('invalid_request', 'price: required (or set pricing_model: quote_required)')
    if (fields.price !== undefined && fields.price !== null) parsePrice(fields.price)
  }
  const kind = () => {
    if (fields.fulfillment_type === 'instant' || fields.service_type === 'data_api')
      throw new AppError(
        'invalid_request',
        'fulfillment_type: an instant listing uses its webhook_url and cannot run a command',
      )
  }
  const schemas = [
    () => fields.input_schema !== undefined && compileInputSchema(fields.input_schema),
    () => fields.deliverable_schema !== undefined && compileDeliverableSchema(fields.deliverable_schema),
  ]
  return [price, kind, ...schemas].flatMap(faultOf)
}

function faultOf(check: () => unknown): readonly string[] {
  try {
    check()
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const details = error.details ?? []
    return details.length === 0 ? [error.message] : details.map(({ path, message }) => `${path}: ${message}`)
  }
}

/** A listing, as the instance returned it. */
export type Offered = {
  readonly id: string
  readonly name: string
  readonly status: string
  /** The price that a buyer pays; null if it is negotiated. */
  readonly agent_price: { readonly fixed: string | null }
  readonly input_schema: Fields
}
type Kept = Offered & Fields

/** What has to change at the instance so that its listing matches the file. */
export type ListingPlan = {
  readonly found: Kept | undefined
  /** Request body: for a new listing all fields, otherwise those that differ. */
  readonly body: Fields
  readonly change: 'created' | 'changed' | 'unchanged'
  /** Names of changed fields, as far as the instance returns them. For a new listing, the names of all fields. */
  readonly changed: readonly string[]
}

/** Compares the file with the listing at the instance. A field that is not in the file stays as it is. */
export function planListing(written: WrittenListing, mine: readonly Kept[], known?: string): ListingPlan {
  const found = foundIn(written, mine, known)
  const { fields, isActive } = written
  const status = isActive ? 'active' : 'inactive'
  if (found === undefined) return { found, body: fields, change: 'created', changed: Object.keys(fields) }
  const differs = Object.entries({ ...fields, status }).filter(([name, value]) => !isSame(name, found[name], value))
  const changed = differs.map(([name]) => name).filter((name) => name in found)
  // The instance does not return `webhook_url`, so it always differs and is always sent.
  return { found, body: Object.fromEntries(differs), change: changed.length === 0 ? 'unchanged' : 'changed', changed }
}

function foundIn({ id, name }: WrittenListing, mine: readonly Kept[], known = id): Kept | undefined {
  if (known !== undefined) {
    const one = mine.find((listing) => listing.id === known)
    if (one !== undefined) return one
    throw new CliError('not_found', `${known} is not one of your listings.`, { next: ['souk services list --mine'] })
  }
  const named = mine.filter((listing) => listing.name === name)
  if (named.length < 2) return named[0]
  throw usage(`You have ${named.length} listings called "${name}": add "id: svc_…" to the file.`, {
    facts: named.map((listing) => listing.id),
  })
}

function isSame(name: string, kept: unknown, written: unknown): boolean {
  if (name === 'price') return samePrice(kept, written)
  if (name === 'fulfillment_type' && written === 'async') return kept === 'automated'
  return isDeepStrictEqual(kept, written)
}

function samePrice(kept: unknown, written: unknown): boolean {
  const known = kept === null || isUnpriced(kept) ? null : parsePrice(kept)
  return known === (written === null ? null : parsePrice(written))
}

function isUnpriced(kept: unknown): boolean {
  return typeof kept === 'object' && kept !== null && 'fixed' in kept && kept.fixed === null
}

/** All listings of the caller, up to the maximum. */
export async function ownListings(session: Session): Promise<readonly Kept[]> {
  const headers = await session.ownHeaders()
  const found: Kept[] = []
  for (let offset = 0; offset < LISTINGS_MAX; offset += PAGE) {
    const query = { mine: 'true', limit: String(PAGE), offset: String(offset) } as const
    const { services, total } = await session.call('getCatalog', { query, headers })
    found.push(...services)
    if (services.length === 0 || offset + services.length >= total) break
  }
  return found
}

/** Creates or changes the listing as planned. @throws AppError for a refusal */
export async function carryOut(session: Session, { found, body }: ListingPlan, isActive = true): Promise<Offered> {
  if (found !== undefined && Object.keys(body).length === 0) return found
  if (found !== undefined) {
    const change = unjudged<SentBody<'updateService'>>(body)
    return session.call('updateService', { params: { id: found.id }, body: change })
  }
  const created = await session.call('createService', { body: unjudged<SentBody<'createService'>>(body) })
  if (isActive) return created
  return session.call('updateService', { params: { id: created.id }, body: { status: 'inactive' } })
}
