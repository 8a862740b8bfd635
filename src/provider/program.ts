import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { CliError, usage } from '../cli/exit.ts'
import { splitWords } from '../cli/split-words.ts'

const SHELL = '/bin/sh'
const CHECK_TIMEOUT_MS = 5_000
/** Files of a command line that are looked after: it, and what it names. */
const FILES_MAX = 16

export type ProgramLine = {
  readonly line: string
  readonly shell: boolean
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A command that can be run: what is started, and the files that it is made of as far as its line says. */
export type FoundProgram = { readonly path: string; readonly files: readonly string[] }

/**
 * Finds what a command line would run, and runs nothing of it.
 * @throws CliError usage for a folder that is none, a program that is not there or not to be run, a line no shell reads
 */
export function findProgram({ line, shell, cwd, env }: ProgramLine): FoundProgram {
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
