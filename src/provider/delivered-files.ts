import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { join, sep } from 'node:path'
import { isId } from '../client/wire-id.ts'
import { MAX_ATTACHMENT_BYTES } from '../core/limits.ts'

/** Maximum number of files per delivery. A conversation takes twenty files, so a job's second delivery fits too. */
const FILES_MAX = 10
const DEPTH_MAX = 4
/** A folder with more files and folders in it is refused. */
const ENTRIES_MAX = 1_000

export type LeftFile = { readonly path: string; readonly name: string; readonly bytes: number }

/** Thrown for files that cannot be delivered. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable'
}

/** Makes an empty folder for a job; removes files of an earlier attempt. @throws Error if it cannot be created */
export function folderFor(root: string, job: string): string {
  if (!isId('job', job)) throw new Undeliverable('the instance returned no job id')
  const folder = join(realpathSync(root), job)
  // If the folder is a link, removes the link, not its target.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

/** The files in a job's folder. Links are refused, so no file outside the folder is delivered. @throws Undeliverable */
export function leftIn(folder: string): readonly LeftFile[] {
  const found: LeftFile[] = []
  let entries = 0
  const look = (inside: readonly string[]) => {
    if (inside.length > DEPTH_MAX) throw new Undeliverable(`folders are more than ${DEPTH_MAX} deep`)
    for (const name of readdirSync(join(folder, ...inside)).sort()) {
      entries += 1
      if (entries > ENTRIES_MAX) throw new Undeliverable(`there are more than ${ENTRIES_MAX} files`)
      const parts = [...inside, name]
      const path = join(folder, ...parts)
      const entry = lstatSync(path)
      if (entry.isDirectory()) look(parts)
      else found.push(plainFile(path, parts.join('/')))
    }
  }
  look([])
  if (found.length > FILES_MAX)
    throw new Undeliverable(`there are ${found.length} files; at most ${FILES_MAX} can be delivered`)
  return found
}

function plainFile(path: string, name: string): LeftFile {
  const entry = lstatSync(path)
  if (!entry.isFile())
    throw new Undeliverable(`${name} is a link or not a regular file: only regular files are delivered`)
  if (entry.nlink > 1) throw new Undeliverable(`${name} is a hard link: only regular files are delivered`)
  if (entry.size > MAX_ATTACHMENT_BYTES) throw new Undeliverable(`${name} is larger than ${MAX_ATTACHMENT_BYTES} bytes`)
  if (entry.size === 0) throw new Undeliverable(`${name} is empty`)
  return { path, name, bytes: entry.size }
}

/** Checks, before a file is sent, that it is still the same plain file in the folder. @throws Undeliverable */
export function checkStill(folder: string, { path, name, bytes }: LeftFile): void {
  const real = realpathSync(path)
  const opened = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const now = fstatSync(opened)
    if (real.startsWith(folder + sep) && real === path && now.isFile() && now.size === bytes) return
  } finally {
    closeSync(opened)
  }
  throw new Undeliverable(`${name} was replaced while it was delivered`)
}
