import { spawnSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError, usage } from '../cli/exit.ts'
import { readObjectFile } from '../cli/files/document.ts'
import { pairOf, splitWords } from '../cli/split-words.ts'
import { makeFolder } from '../core/folder.ts'
import { type DeliverForm, deliverForms } from './run-job.ts'
import { readListing, type WrittenListing } from './written-listing.ts'

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

/** The user's umask decides whether other users can read the folder. */
const SHARED_FOLDER_MODE = 0o777

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

type ProgramLine = {
  readonly line: string
  readonly shell: boolean
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A command that can run: the path of its program, and the files that its line names. */
type FoundProgram = { readonly path: string; readonly files: readonly string[] }

/**
 * Finds what a command line would run, without running it.
 * @throws CliError `usage` for a missing folder or program, or an invalid line
 */
function findProgram({ line, shell, cwd, env }: ProgramLine): FoundProgram {
  const folder = resolve(cwd ?? '.')
  if (!isFolder(folder)) throw usage(`There is no folder ${cwd}, which --cwd names.`)
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
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
