import { AppError } from '../../core/error.ts'
import { oneLine, yellow } from '../../text/text.ts'
import type { OutputStream, System } from '../env.ts'
import { CliError } from '../exit.ts'
import { createIo, type Io, type IoSettings } from '../io.ts'
import { aside } from './pager.ts'

const DEFAULT_ROWS = 24
const UP = (lines: number) => (lines > 0 ? `\u001B[${lines}A` : '')
const CLEAR_LINE = '\u001B[K'
const CLEAR_BELOW = '\u001B[J'
const CLEAR_ALL = '\u001B[H\u001B[2J\u001B[3J'
// A wrapped line would take two rows and break the repainting.
const WRAP_OFF = '\u001B[?7l'
const WRAP_ON = '\u001B[?7h'

/** Codes of temporary failures: the command is repeated after them. */
const PASSING: ReadonlySet<string> = new Set(['paused', 'unavailable', 'rate_limited', 'internal'])

export type Watching = {
  readonly system: System
  readonly settings: IoSettings
  readonly everyMs: number
  readonly signal: AbortSignal
  readonly look: (io: Io) => Promise<void>
}

/** Repeats a command until ctrl-c. @throws a failure of the first run, or a later one that is not temporary */
export async function watch(watching: Watching): Promise<void> {
  const { system, settings, signal, everyMs } = watching
  const isPainted = system.stdout.isTTY === true && settings.format === 'human'
  const show = isPainted ? painter(system.stdout) : printer(system.stdout)
  if (isPainted) system.stdout.write(WRAP_OFF)
  try {
    let last = await lookAt(watching)
    show(last)
    for (;;) {
      await system.sleep(everyMs, signal)
      if (signal.aborted) return
      last = await again(watching, last)
      if (signal.aborted) return
      show(last)
    }
  } finally {
    if (isPainted) system.stdout.write(WRAP_ON)
  }
}

/** Output of the next run. After a temporary failure, the last output with a note about the failure. */
async function again(watching: Watching, last: string): Promise<string> {
  try {
    return await lookAt(watching)
  } catch (error) {
    if (watching.signal.aborted) return last
    if (!isPassing(error)) throw error
    if (watching.settings.format !== 'human') return last
    const body = last.split('\n').filter((line) => !line.includes(TRYING))
    return [...body.slice(0, -1), sentenceOf(watching, error), ''].join('\n')
  }
}

const TRYING = '; trying again'

function sentenceOf({ system, settings }: Watching, error: unknown): string {
  const said: string[] = []
  const io = createIo(aside(system, said, { notes: true }), settings)
  io.line(yellow(`! ${oneLine(error instanceof Error ? error.message : String(error)).replace(/\.$/, '')}${TRYING}`))
  return said.join('').trimEnd()
}

function isPassing(error: unknown): boolean {
  if (error instanceof CliError) return error.exit === 'no_daemon'
  return error instanceof AppError && PASSING.has(error.code)
}

async function lookAt({ system, settings, look }: Watching): Promise<string> {
  const said: string[] = []
  const io = createIo(aside(system, said, { notes: true }), { ...settings, ask: false })
  await look(io)
  await io.flush()
  return said.join('')
}

/** For output that is no terminal: prints the output whenever it has changed. */
function printer(stdout: OutputStream): (text: string) => void {
  let before: string | undefined
  return (text) => {
    if (text === before) return
    before = text
    stdout.write(text)
  }
}

/** For a terminal: paints only the lines that have changed. */
function painter(stdout: OutputStream): (text: string) => void {
  let shown: readonly string[] = []
  let size = sizeOf(stdout)
  return (text) => {
    const now = sizeOf(stdout)
    const isResized = now.rows !== size.rows || now.columns !== size.columns
    size = now
    const lines = fitted(text.replace(/\n$/, '').split('\n'), size.rows)
    // After a change of the terminal's size, lines wrap differently. Then everything is painted again.
    const before = isResized ? [] : shown
    stdout.write((isResized ? CLEAR_ALL : '') + repaint(before, lines))
    shown = lines
  }
}

function sizeOf({ rows = DEFAULT_ROWS, columns = 0 }: OutputStream) {
  return { rows, columns }
}

/** Cuts the lines to the height of the terminal, with one row left for the cursor. */
function fitted(lines: readonly string[], rows: number): readonly string[] {
  const room = Math.max(1, rows - 1)
  if (lines.length <= room) return lines
  return [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
}

/** Terminal text that puts the new output over the old one. The cursor ends below the new output. */
function repaint(shown: readonly string[], lines: readonly string[]): string {
  const painted = lines.map((line, at) => (line === shown[at] ? '\n' : `\r${line}${CLEAR_LINE}\n`))
  return UP(shown.length) + painted.join('') + (shown.length > lines.length ? CLEAR_BELOW : '')
}
