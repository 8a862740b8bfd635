import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError, usage } from '../cli/exit.ts'
import { silent } from '../cli/io.ts'
import { makeFolder } from '../core/folder.ts'
import { didYouMean } from '../text/text.ts'
import { askBackup, saveBackup } from './save-backup.ts'

type Context = Pick<CommandContext<unknown, unknown>, 'places'>
export type Snapshot = ReturnType<typeof listSnapshots>[number]

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
const ENDING = '.tar'

/** Folder of the snapshots. It is not in the data folder, so clearing the data keeps the snapshots. */
export function snapshotFolder({ places }: Context): string {
  return join(places.state, 'snapshots')
}

/** The file for a snapshot. @throws CliError `usage` for an invalid name */
export function snapshotFile(host: Context, name: string): string {
  if (!NAME.test(name)) throw usage(`NAME must be lower-case letters, digits, "-" or "_"; you gave "${name}".`)
  return join(snapshotFolder(host), name + ENDING)
}

/** Snapshots, newest first. */
export function listSnapshots(host: Context) {
  const folder = snapshotFolder(host)
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING))
  const found = files.map((file) => {
    const { size, mtime } = statSync(join(folder, file))
    const name = file.slice(0, -ENDING.length)
    return { name, saved_at: mtime.toISOString(), size_bytes: size, file: join(folder, file) }
  })
  return found.sort((one, other) => other.saved_at.localeCompare(one.saved_at))
}

/** The file of a snapshot that exists. @throws CliError not_found, which suggests the nearest name */
export function findSnapshot(host: Context, name: string): string {
  const file = snapshotFile(host, name)
  if (existsSync(file)) return file
  const names = listSnapshots(host).map((one) => one.name)
  throw new CliError('not_found', `There is no snapshot "${name}"${didYouMean(name, names)}.`, {
    next: ['souk snapshots list'],
  })
}

/** Saves a snapshot of the running store. A snapshot of the same name is replaced. Prints nothing. */
export async function keepSnapshot(context: CommandContext<unknown, unknown>, name: string): Promise<string> {
  const file = snapshotFile(context, name)
  makeFolder(snapshotFolder(context))
  const io = { ...context.io, progress: () => silent }
  await saveBackup({ io }, await askBackup(await context.session(), context.globals), file)
  return file
}
