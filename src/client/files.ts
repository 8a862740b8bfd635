import { closeSync, constants, lstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError, errnoOf } from '../core/error.ts'
import { makeFolder } from '../core/folder.ts'
import { jsonIn } from '../core/json.ts'
import { type AnswerShape, faultIn, type Shaped } from './check.ts'

export const PRIVATE_FILE_MODE = 0o600

type Schema<T> = {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
}
type Issue = { readonly path: readonly PropertyKey[]; readonly message: string }

/** Makes a schema from a shape. The schema library would be too slow for short commands. */
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
 * Reads a small JSON file.
 * @returns undefined if missing.
 * @throws AppError `invalid_request` for invalid content, naming the file
 */
export function readJson<T>(path: string, schema: Schema<T>): T | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const parsed = schema.safeParse(jsonIn(text)?.value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw damaged(path, `${issue?.path.join('.') || 'it'} ${issue?.message ?? ''}`)
}

export function damaged(path: string, why: string): AppError {
  return new AppError('invalid_request', `${path} is damaged: ${why}`)
}

/** @returns undefined if missing */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces a private file atomically. */
export function writePrivate(path: string, text: string): void {
  makeFolder(dirname(path))
  replaceFile(path, text, PRIVATE_FILE_MODE)
}

// Overwrites a leftover draft, but never follows a link.
const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)

/** Replaces a file. If the path is a link, the link is replaced, not its target. */
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

const MAX_NAMES_TRIED = 1_000
// A file is opened only if the name is new, so nothing is ever written through a link.
const NEW_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/**
 * Adds a file under the first free name. If a taken name already has the same content, returns that name instead.
 * @param nameOf - makes the name for attempt n, counted from 0
 * @returns the name of the file
 * @throws AppError `conflict` if all names are taken
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
  throw new AppError('conflict', `${nameOf(0)} and all numbered names like it already exist.`)
}

/** Whether the path is a regular file with exactly this content. */
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
