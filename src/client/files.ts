import { closeSync, constants, lstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError, errnoOf } from '../core/error.ts'
import { makeFolder } from '../core/folder.ts'
import { type AnswerShape, faultIn, type Shaped } from './check.ts'

export const PRIVATE_FILE_MODE = 0o600

/** What a file of ours has to hold. */
type Schema<T> = {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
}
type Issue = { readonly path: readonly PropertyKey[]; readonly message: string }

/** The same said as answers are: the schema library costs more than a whole short command that reads such a file. */
export function shaped<const S extends AnswerShape>(shape: S): Schema<Shaped<S>> {
  return {
    safeParse(value) {
      const fault = faultIn(value, shape)
      const holds = (_value: unknown): _value is Shaped<S> => fault === undefined
      if (holds(value)) return { success: true, data: value }
      return { success: false, error: { issues: fault ? [{ path: fault.path, message: fault.must }] : [] } }
    },
  }
}

/**
 * Reads a small JSON file of ours.
 * @returns undefined when there is none.
 * @throws AppError invalid_request when it does not hold what we write, naming the file.
 */
export function readJson<T>(path: string, schema: Schema<T>): T | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const parsed = schema.safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw damaged(path, `${issue?.path.join('.') || 'it'} ${issue?.message ?? ''}`)
}

/** A file of ours that does not hold what we write. */
export function damaged(path: string, why: string): AppError {
  return new AppError('invalid_request', `${path} is damaged: ${why}`)
}

/** @returns undefined when the file is not there; other failures throw. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces a file as a whole, readable by its owner only: a reader sees the old or the new text, never a part. */
export function writePrivate(path: string, text: string): void {
  makeFolder(dirname(path))
  replaceFile(path, text, PRIVATE_FILE_MODE)
}

// A draft that a crash left behind is written over, but nothing is written through a link that waits in its place.
const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)

/** Puts a file in the place of whatever bears its name; a link there is replaced, never followed. */
export function replaceFile(path: string, data: string | Uint8Array, mode?: number): void {
  const draft = `${path}.${process.pid}.tmp`
  const file = openSync(draft, DRAFT_FLAGS, mode)
  try {
    writeFileSync(file, data)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

/** Names that are tried for a file that must not take the place of another. */
const MAX_NAMES_TRIED = 1_000
// A link that bears the name counts as taken: nothing is written through it.
const NEW_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/**
 * Adds a file under the first name that is free, or leaves the one that holds the same.
 * @param nameOf - the name to try for the n-th time, from 0
 * @returns its name
 * @throws AppError conflict when all names are taken
 */
export function addFile(nameOf: (again: number) => string, data: Uint8Array): string {
  for (let again = 0; again < MAX_NAMES_TRIED; again += 1) {
    const path = nameOf(again)
    if (holds(path, data)) return path
    if (lstatSync(path, { throwIfNoEntry: false })) continue
    const file = openSync(path, NEW_FLAGS)
    try {
      writeFileSync(file, data)
    } finally {
      closeSync(file)
    }
    return path
  }
  throw new AppError('conflict', `${nameOf(0)} and all names like it are taken.`)
}

/** Whether a file, and no link to one, holds exactly this. */
function holds(path: string, data: Uint8Array): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size === data.byteLength && readFileSync(path).equals(data)
}

export function writeJson(path: string, value: unknown): void {
  writePrivate(path, `${JSON.stringify(value, null, 2)}\n`)
}

export function removeFile(path: string): void {
  rmSync(path, { force: true })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON at all: the schema refuses undefined and the caller names the file.
    return undefined
  }
}
