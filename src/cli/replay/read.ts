import { statSync } from 'node:fs'
import { readText } from '../../client/files.ts'
import { RECORDING_BYTES_MAX } from '../../client/recording/record.ts'
import { byteSize } from '../../text/text.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { readHar } from './har.ts'
import { readLines } from './lines.ts'
import type { Read } from './recorded.ts'

/** A file of requests; `-` is stdin. */
type Source = { readonly file: string; readonly io: Io }
const STDIN = '-'

/** Reads a file of requests, whatever wrote it. @throws CliError usage for the first fault, by line and field */
export async function readRecorded(source: Source, origin: string | undefined): Promise<Read> {
  const text = await textOf(source)
  if (isHar(text)) {
    return { format: 'har', requests: readHar(source.file, text, origin) }
  }
  if (origin !== undefined) throw usage('--origin chooses among the hosts of a HAR file; this is none.')
  return readLines(source.file, text)
}

async function textOf({ file, io }: Source): Promise<string> {
  if (file === STDIN) return io.stdin()
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > RECORDING_BYTES_MAX)
    throw usage(`${file} is larger than ${byteSize(RECORDING_BYTES_MAX)}: split it by its lines.`)
  const text = readText(file)
  if (text !== undefined) return text
  throw usage(`There is no file ${file}.`, { next: ['souk services list --record story.ndjson'] })
}

/** One JSON document with a log in it; lines of JSON are documents of their own. */
function isHar(text: string): boolean {
  return /^\s*\{\s*"log"\s*:/.test(text)
}
