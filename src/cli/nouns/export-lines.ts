import { z } from 'zod'
import type { ExportEnd, ExportKind, ExportStart, exportRecords } from '../../api/sections/export.ts'
import { PRIVATE_FILE_MODE } from '../../client/files.ts'
import type { TransportResponse } from '../../client/transport.ts'
import { type Append, writeWhole } from '../../client/whole-file.ts'
import { AppError } from '../../core/error.ts'
import { isObject, jsonIn } from '../../core/json.ts'

type Records = { readonly [K in ExportKind]: z.input<(typeof exportRecords)[K]> } & {
  readonly export: z.input<typeof ExportStart>
  readonly end: z.input<typeof ExportEnd>
}
export type ExportLine = {
  [K in keyof Records]: { readonly kind: K; readonly record: Records[K] }
}[keyof Records]
type Line = { readonly text: string; readonly parsed: ExportLine }
type Watch = (records: number, kind: string) => void

const End = z.object({ records: z.int(), counts: z.record(z.string(), z.int()) })
export type End = z.infer<typeof End>

/** The first and the last line of an export, which are not counted as records. */
const FRAME_LINES = 2
const WATCH_EVERY = 100
/** Longest record: eight times the largest delivery. */
const LINE_CHARS_MAX = 64 * 1024 * 1024

/** Yields the lines of an export. @throws AppError `internal` if the export is incomplete */
export async function* linesOf(response: TransportResponse, watch: Watch): AsyncGenerator<Line> {
  let count = 0
  let last: ExportLine | undefined
  for await (const text of split(response.file())) {
    last = lineIn(text)
    count += 1
    if (count % WATCH_EVERY === 0) watch(count, last.kind)
    yield { text, parsed: last }
  }
  const end = last?.kind === 'end' ? End.parse(last.record) : undefined
  if (end?.records !== count - FRAME_LINES)
    throw new AppError('internal', `The export is incomplete after ${count} lines: run the command again.`)
}

/** Checks only the form of a line, not whether the kind of its record exists. */
function lineIn(text: string): ExportLine {
  const line = jsonIn(text)?.value
  if (!isLine(line))
    throw new AppError('internal', 'A line of the export is not a record of the form {"kind": …, "record": …}.')
  return line
}

function isLine(value: unknown): value is ExportLine {
  return isObject(value) && typeof value.kind === 'string' && isObject(value.record)
}

async function* split(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Pieces of a line whose end has not arrived yet. They are joined once, at the end of the line.
  let pieces: string[] = []
  let chars = 0
  for await (const chunk of chunks) {
    const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n')
    pieces.push(first)
    chars += first.length
    if (chars > LINE_CHARS_MAX) throw new AppError('internal', 'A line of the export is too long.')
    const last = more.pop()
    if (last === undefined) continue
    yield pieces.join('')
    yield* more
    pieces = [last]
    chars = last.length
  }
  if (chars > 0) throw new AppError('internal', 'The export ends inside a line: run the command again.')
}

/** Writes lines to a file atomically. */
export async function saveLines(path: string, lines: AsyncIterable<Line>): Promise<End> {
  const write = async (append: Append) => {
    let last: ExportLine | undefined
    for await (const { text, parsed } of lines) {
      await append(`${text}\n`)
      last = parsed
    }
    return End.parse(last?.record)
  }
  return writeWhole(path, write, PRIVATE_FILE_MODE)
}
