import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { usage } from '../cli/exit.ts'
import { readObjectFile } from '../cli/files/document.ts'
import { makeFolder } from '../core/folder.ts'
import { type FoundProgram, findProgram } from './program.ts'
import { type DeliverForm, deliverForms } from './run-job.ts'
import { readListing, type WrittenListing } from './written-listing.ts'

/** What is asked of a provider at the command line. */
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

/** All that could be found wrong without asking anybody, looked at. */
export type CheckedShop = {
  readonly program: FoundProgram
  /** Looks for the program again. @throws CliError usage where it cannot be run now */
  readonly find: () => FoundProgram
  readonly env: Readonly<Record<string, string | undefined>>
  readonly deliver: DeliverForm
  readonly written: WrittenListing | undefined
  /** What is practised with; an example of the schema where none is given. */
  readonly input: Readonly<Record<string, unknown>> | undefined
}

/** Refuses what cannot work before anything starts. @throws CliError usage */
export async function checkShop({ io, options, system, globals }: ShopHost): Promise<CheckedShop> {
  const env = { ...system.env, ...Object.fromEntries(options.env.map(variableOf)) }
  const find = () => findProgram({ line: options.exec, shell: options.shell, cwd: options.cwd, env })
  const program = find()
  const written = options.listing === undefined ? undefined : await readListing(io, options.listing)
  if (options.watch && options.listing === '-') throw usage('--watch needs a file: stdin is read once.')
  const { practiceInput } = options
  const input = practiceInput === undefined ? undefined : await readObjectFile(io, practiceInput, 'the input')
  // Made last: a refusal leaves no folder behind, and a rehearsal none at all.
  return { program, find, env, written, input, deliver: formOf(options.deliver, globals.dryRun) }
}

/** What others may see of it is the affair of the person's own umask. */
const SHARED_FOLDER_MODE = 0o777

function formOf(text: string, dryRun: boolean): DeliverForm {
  const form = deliverForms.find((one) => one === text)
  if (form !== undefined) return form
  // A word that was meant as a form is no folder: folders are told by how they are written.
  if (!/[/\\]|^\.+$/.test(text))
    throw usage(`--deliver is ${deliverForms.join(', ')}, or a folder such as ./${text}; you gave "${text}".`)
  if (dryRun) return { root: resolve(text) }
  try {
    return { root: realpathSync(makeFolder(text, SHARED_FOLDER_MODE)) }
  } catch (error) {
    throw usage(`--deliver ${text} is not a folder: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function variableOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw usage(`--env must be name=value; you gave "${text}".`)
  return [text.slice(0, at), text.slice(at + 1)]
}
