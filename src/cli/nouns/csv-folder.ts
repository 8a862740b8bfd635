import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PRIVATE_FILE_MODE } from '../../client/files.ts'
import { isObject } from '../../core/json.ts'
import { csvText } from '../../text/csv.ts'
import { shellLine } from '../../text/shell.ts'
import { CliError } from '../exit.ts'

const PRIVATE_DIR_MODE = 0o700
/** Text that is written at once. */
const CHUNK_CHARS = 64 * 1024

/** A folder that gets one table a list; it is there when all of it was written, or not at all. */
export type CsvFolder = {
  add(list: string, record: unknown): Promise<void>
  end(): Promise<void>
  drop(): Promise<void>
}

type List = { readonly file: FileHandle; readonly columns: Set<string>; pending: string }

/**
 * Records may have members that those before them lacked, so they wait in a file until all are known.
 * @throws CliError conflict where there is such a folder already
 */
export async function openCsvFolder(folder: string): Promise<CsvFolder> {
  if (existsSync(folder)) {
    const message = `${folder} is there already, and nothing in it is replaced.`
    throw new CliError('conflict', message, { next: [shellLine`rm -r ${folder}`] })
  }
  const part = `${folder}.${process.pid}.part`
  await mkdir(part, { mode: PRIVATE_DIR_MODE })
  const lists = new Map<string, List>()
  const waiting = (name: string) => join(part, `${name}.ndjson`)
  return {
    async add(name, record) {
      const list = lists.get(name) ?? (await begin(waiting(name)))
      lists.set(name, list)
      for (const member of Object.keys(isObject(record) ? record : { value: record })) list.columns.add(member)
      await append(list, `${JSON.stringify(record)}\n`)
    },
    async end() {
      for (const [name, list] of lists) {
        await flush(list)
        await list.file.close()
        await tabulate(waiting(name), join(part, `${name}.csv`), [...list.columns])
        await unlink(waiting(name))
      }
      await rename(part, folder)
    },
    drop: () => rm(part, { recursive: true, force: true }),
  }
}

async function begin(path: string): Promise<List> {
  return { file: await open(path, 'wx', PRIVATE_FILE_MODE), columns: new Set(), pending: '' }
}

async function append(list: List, text: string): Promise<void> {
  list.pending += text
  if (list.pending.length >= CHUNK_CHARS) await flush(list)
}

async function flush(list: List): Promise<void> {
  await list.file.appendFile(list.pending)
  list.pending = ''
}

async function tabulate(from: string, to: string, columns: readonly string[]): Promise<void> {
  const list = await begin(to)
  await append(list, `${columns.map(csvText).join(',')}\r\n`)
  for await (const line of createInterface({ input: createReadStream(from), crlfDelay: Number.POSITIVE_INFINITY })) {
    const parsed: unknown = JSON.parse(line)
    const record = isObject(parsed) ? parsed : { value: parsed }
    await append(list, `${columns.map((column) => cell(record[column])).join(',')}\r\n`)
  }
  await flush(list)
  await list.file.sync()
  await list.file.close()
}

/** What has members stands as JSON. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return csvText(typeof value === 'string' ? value : JSON.stringify(value))
}
