import { at } from '../core/record.ts'
import { type CliFacts, usage } from './exit.ts'

const WORD = /\s*((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+)/gsy
const PART = /"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^"'\\]+/gs

/**
 * Splits a command line like a shell, with quotes and backslashes but without expansion.
 * @throws CliError usage if the line is empty, or a quote is not closed
 */
export function splitWords(line: string): readonly [string, ...string[]] {
  const words: string[] = []
  WORD.lastIndex = 0
  let end = 0
  for (let match = WORD.exec(line); match; match = WORD.exec(line)) {
    words.push(plain(at(match, 1)))
    end = WORD.lastIndex
  }
  if (line.slice(end).trim() !== '') throw usage(`A quote is not closed: ${line.slice(end).trim()}`)
  const [program, ...rest] = words
  if (program === undefined) throw usage('There is no command to run.')
  return [program, ...rest]
}

function plain(word: string): string {
  return word.replace(PART, (part) => {
    if (part.startsWith('"')) return part.slice(1, -1).replace(/\\([\\"$`])/g, '$1')
    return part.startsWith("'") ? part.slice(1, -1) : part.replace(/^\\/, '')
  })
}

/** Splits `name=value` at the first sign. @throws CliError `usage` with the sentence, if there is no name or sign */
export function pairOf(text: string, must: string, more?: CliFacts & { readonly sign?: string }): [string, string] {
  const { sign = '=', ...said } = more ?? {}
  const at = text.indexOf(sign)
  if (at < 1) throw usage(must, said)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Splits a typed header at its colon. @throws CliError `usage` */
export function headerIn(text: string): [string, string] {
  const [name, value] = pairOf(text, `"${text}" must be "name: value".`, { sign: ':' })
  return [name.trim(), value.trim()]
}
