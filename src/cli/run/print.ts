import { isObject } from '../../core/json.ts'
import { harmless, oneLine } from '../../text/text.ts'
import { eachText } from '../answer.ts'
import type { Command } from '../command.ts'
import type { Globals } from '../globals.ts'
import type { Io } from '../io.ts'
import { listMember, pickFields, printTsv } from '../output.ts'
import { type DryRun, heldData } from '../session.ts'

type Printing = { io: Io; globals: Globals }

export async function print(command: Command, { io, globals }: Printing, data: unknown): Promise<void> {
  const { format } = io.settings
  if (format === 'json') return printJson(io, globals, data)
  if (format === 'ndjson') {
    for (const row of command.rows?.(data) ?? listMember(data)?.elements ?? [data]) await printLine(io, globals, row)
    return
  }
  const rows = format === 'tsv' || !io.isTty ? command.rows?.(data) : undefined
  if (rows && command.columns) return printTsv(io, command.columns, { rows, header: globals.header })
  if (format === 'tsv') return printPairs(io, data)
  show(command, data, io)
}

/**
 * Hands data to the view of a command. What somebody else wrote in it is one line then, whatever it holds, and colors
 * nothing: no view has to think of that.
 */
export function show(command: Command, data: unknown, io: Io): void {
  command.view(command.ownText ? data : eachText(data, harmless), io)
}

export async function printItem(command: Command, { io, globals }: Printing, item: unknown): Promise<void> {
  if (io.settings.format === 'json' || io.settings.format === 'ndjson') return printLine(io, globals, item)
  show(command, item, io)
}

async function printJson(io: Io, globals: Globals, data: unknown): Promise<void> {
  const value = globals.fields === undefined ? data : pickFields(data, globals.fields)
  if (globals.jq === undefined) {
    io.json(value)
    return
  }
  const { runJq } = await import('../jq/index.ts')
  for (const result of runJq(globals.jq, value)) {
    // On a terminal a text is one line; in a pipe it is what the program that reads it asked for.
    if (typeof result === 'string') io.line(io.isTty ? harmless(result) : result)
    else io.json(result)
  }
}

export async function printLine(io: Io, globals: Globals, data: unknown): Promise<void> {
  const value = globals.fields === undefined ? data : pickFields(data, globals.fields)
  if (globals.jq === undefined) {
    io.jsonLine(value)
    return
  }
  const { runJq } = await import('../jq/index.ts')
  for (const result of runJq(globals.jq, value)) io.jsonLine(result)
}

/** A single object as `name<tab>value` lines. */
function printPairs(io: Io, data: unknown): void {
  if (!isObject(data)) {
    io.jsonLine(data)
    return
  }
  for (const [name, value] of Object.entries(data)) {
    io.line(`${oneLine(name)}\t${typeof value === 'object' ? JSON.stringify(value) : oneLine(String(value))}`)
  }
}

export function showHeldBack(io: Io, { held }: DryRun): void {
  if (io.settings.format !== 'human') {
    io.json(heldData(held))
    return
  }
  if ('act' in held) {
    io.line(`would ${held.act}`)
    return
  }
  io.line(`${held.method} ${held.url}`)
  if (held.headers) io.line(held.headers)
  if (held.body !== null) io.line(JSON.stringify(held.body, null, 2))
  if (held.price) io.line(`price ${held.price}`)
  io.say('nothing was sent')
}
