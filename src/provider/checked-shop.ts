import { spawnSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError, usage } from '../cli/exit.ts'
import { readObjectFile } from '../cli/files/document.ts'
import { splitWords } from '../cli/split-words.ts'
import { makeFolder } from '../core/folder.ts'
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

const SHELL = '/bin/sh'
const CHECK_TIMEOUT_MS = 5_000
/** Files of a command line that are looked after: it, and what it names. */
const FILES_MAX = 16

type ProgramLine = {
  readonly line: string
  readonly shell: boolean
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A command that can be run: what is started, and the files that it is made of as far as its line says. */
type FoundProgram = { readonly path: string; readonly files: readonly string[] }

/**
 * Finds what a command line would run, and runs nothing of it.
 * @throws CliError usage for a folder that is none, a program that is not there or not to be run, a line no shell reads
 */
function findProgram({ line, shell, cwd, env }: ProgramLine): FoundProgram {
  const folder = resolve(cwd ?? '.')
  if (!isFolder(folder)) throw usage(`There is no folder ${cwd} to run the command in.`)
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

/** A line for a shell need not be one of plain words. */
function wordsOr(line: string): readonly string[] {
  try {
    return splitWords(line)
  } catch (error) {
    if (error instanceof CliError) return []
    throw error
  }
}

type Where = { readonly folder: string; readonly env: ProgramLine['env'] }

function pathOf(name: string, { folder, env }: Where): string {
  const isPath = name.includes('/')
  const folders = isPath ? [''] : (env.PATH ?? '').split(delimiter).filter(Boolean)
  const places = folders.map((one) => (isAbsolute(name) ? name : resolve(folder, join(one, name))))
  const found = places.find(isFile)
  if (found === undefined) {
    const where = isPath ? `at ${places[0]}` : 'on PATH'
    throw usage(`There is no program ${name} ${where}; nothing was started.`, {
      facts: isPath ? ['a path is read from the folder that the command runs in (--cwd)'] : [],
    })
  }
  const runs = places.find(isRunnable)
  if (runs === undefined) throw usage(`${found} may not be run; nothing was started.`, { next: [`chmod +x ${found}`] })
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
    // Not there, or not for us.
    return false
  }
}
