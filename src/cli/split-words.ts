import { at } from '../core/record.ts'
import { usage } from './exit.ts'

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
