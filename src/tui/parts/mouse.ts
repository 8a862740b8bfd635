import { widthOf } from '../../text/text.ts'
import type { Hit, Line } from './line.ts'

/** Turns mouse reports on: presses of buttons and the wheel (1000), as decimal numbers (1006). */
export const MOUSE_ON = '\u001B[?1000h\u001B[?1006h'
export const MOUSE_OFF = '\u001B[?1006l\u001B[?1000l'

/** A click of the left button or a turn of the wheel, at a cell counted from 1. */
export type Pointer = { readonly does: 'click' | 'up' | 'down'; readonly column: number; readonly row: number }

const doing: Readonly<Record<string, Pointer['does']>> = { 0: 'click', 64: 'up', 65: 'down' }

const ESC = '\u001B'
const PASTE = `${ESC}[200~`
const PASTE_END = `${ESC}[201~`
/** A report, or as much of one as has arrived. Terminals without mode 1006 send `[M` and three characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: reports begin with it
const REPORT = /^\u001B\[(?:<[\d;]*[Mm]?|M.{0,3})/s
const FIGURES = /<(\d{1,3});(\d{1,4});(\d{1,4})M$/
const OLD_REPORT_CHARS = 6
/** Longest part of a report that is kept. */
const PART_CHARS_MAX = 24
/** How long `esc` waits, since a report begins with it. */
const KEY_MS = 50
/** How long the rest of a report is awaited. */
const PART_MS = 1_000

type Parsed = string | Pointer

/** Parts input into keys and pointers. Broken reports are dropped, so that their characters never act as keys. */
export function createMouseParser() {
  /** What may be the begin of a report, until more arrives. */
  let held = ''
  let isPasting = false

  /** Takes the next part off a text that begins with a sequence. @returns nothing if the whole text is held */
  function sequence(text: string): readonly [part: Parsed, rest: string] | undefined {
    if (isPasting) {
      isPasting = !text.startsWith(PASTE_END)
      return PASTE_END.startsWith(text) && isPasting ? undefined : [ESC, text.slice(1)]
    }
    isPasting = text.startsWith(PASTE)
    const [report] = REPORT.exec(text) ?? []
    if (report !== undefined) return reported(report, text.slice(report.length))
    return PASTE.startsWith(text) && !isPasting ? undefined : [ESC, text.slice(1)]
  }

  function next(text: string): ReturnType<typeof sequence> {
    const at = text.indexOf(ESC)
    if (at === 0) return sequence(text)
    return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)]
  }

  return {
    read(chunk: string): readonly Parsed[] {
      const parts: Parsed[] = []
      let text = held + chunk
      held = ''
      while (text !== '') {
        const found = next(text)
        if (found === undefined) {
          held = text.slice(0, PART_CHARS_MAX)
          break
        }
        parts.push(found[0])
        text = found[1]
      }
      return parts.filter((part) => part !== '')
    },
    /** How long to wait for more. Undefined if nothing is held. */
    waits() {
      if (held === '') return undefined
      return REPORT.test(held) ? PART_MS : KEY_MS
    },
    /** Gives up waiting. @returns the keys that were held */
    release(): string {
      const keys = REPORT.test(held) ? '' : held
      held = ''
      return keys
    },
  }
}

/** @returns nothing if the rest of the report is still to come */
function reported(report: string, rest: string): readonly [Parsed, string] | undefined {
  const isOld = report[2] === 'M'
  const isEnded = isOld ? report.length === OLD_REPORT_CHARS : /[Mm]$/.test(report)
  if (!isEnded && rest === '') return undefined
  const [, code = '', column, row] = FIGURES.exec(report) ?? []
  const does = doing[code]
  return [does === undefined ? '' : { does, column: Number(column), row: Number(row) }, rest]
}

type Ears = { readonly later: (ms: number, run: () => void) => () => void; readonly point: (pointer: Pointer) => void }

/** The terminal's input without its mouse reports, which go to `point`, in order with the keys around them. */
export function withoutMouse(stdin: NodeJS.ReadStream, { later, point }: Ears): NodeJS.ReadStream {
  const parser = createMouseParser()
  const parts: Parsed[] = []
  let forget = (): void => undefined

  function hear(chunk: unknown): void {
    forget()
    parts.push(...parser.read(String(chunk)))
    const ms = parser.waits()
    if (ms === undefined) return
    forget = later(ms, () => {
      const keys = parser.release()
      if (keys === '') return
      parts.push(keys)
      // The reader asks for the keys again.
      stdin.emit('readable')
    })
  }

  function read(size?: number): unknown {
    if (size !== undefined) return stdin.read(size)
    for (let part = nextPart(); part !== undefined; part = nextPart()) {
      if (typeof part === 'string') return part
      point(part)
    }
    return null
  }

  function nextPart(): Parsed | undefined {
    while (parts.length === 0) {
      const chunk: unknown = stdin.read()
      if (chunk === null) return undefined
      hear(chunk)
    }
    return parts.shift()
  }

  return new Proxy(stdin, {
    get(target, name) {
      if (name === 'read') return read
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
}

/** What a click at a column of a row is on. @param column - from 0 */
export function hitAt(line: Line, column: number): Hit | undefined {
  let end = 0
  for (const piece of line) {
    end += widthOf(typeof piece === 'string' ? piece : piece.text)
    if (column < end) return typeof piece === 'string' ? undefined : piece.hit
  }
  return undefined
}
