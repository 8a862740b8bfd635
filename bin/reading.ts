// `node bin/reading.ts SEED`: draws 60 strings and 60 comments of the product for a reader who did not write them.
// The goal: at most 3 of each have to be read twice.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export type Item = {
  readonly kind: 'string' | 'comment'
  readonly path: string
  /** In the source; of a string with its quotes, of lines of `//` from the first to the last. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** The line of code below a comment; empty for strings. */
  readonly about: string
}

const DRAWN = 60
const MIN_WORDS = 4
/** Longer literals are data or programs. */
const MAX_CHARS = 500
const NOT_READ = /\.(test|testkit|fake)\.tsx?$|^commands\/outputs\.ts$/
const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/ .+\n?)+/gm
const WORD = /^[("'`[]?[\p{L}$][\p{L}'’-]*[)"'`\],.:;?!]*$/u
/** SQL, markup, styles and shell: programs have readers of their own. */
const PROGRAM =
  /<\/?\w+[ >]|[{};]\s*$|[;{]\s*[\w-]+:|\b(?:select|update|insert|delete) .*\b(?:from|set|into|where)\b|&&|=>/

export const root = fileURLToPath(new URL('..', import.meta.url))

/** What people read of a source: its strings and comments of four words or more. */
export function itemsOf(path: string, source: string): Item[] {
  const isText = ({ text, kind }: Item) =>
    text.length <= MAX_CHARS && wordsOf(text) >= MIN_WORDS && !(kind === 'string' && PROGRAM.test(text))
  const strings = stringsOf(path, source)
  const isCode = ({ start }: Item) => !strings.some((one) => one.start < start && start < one.end)
  return [...strings, ...commentsOf(path, source).filter(isCode)].filter(isText)
}

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => WORD.test(word)).length

function stringsOf(path: string, source: string): Item[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const items: Item[] = []
  const visit = (node: ts.Node): void => {
    const isString = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isJsxText(node)
    if (isString && !ts.isLiteralTypeNode(node.parent) && !ts.isImportDeclaration(node.parent)) {
      const [start, end] = [node.getStart(file), node.getEnd()]
      const quoted = source.slice(start, end)
      items.push({
        kind: 'string',
        path,
        start,
        end,
        text: ts.isJsxText(node) ? quoted.trim() : quoted.slice(1, -1),
        about: '',
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return items
}

function commentsOf(path: string, source: string): Item[] {
  return [...source.matchAll(COMMENT)].map((found) => ({
    kind: 'comment',
    path,
    start: found.index,
    end: found.index + found[0].trimEnd().length,
    text: found[0]
      .replace(/^\/\*\*?|\*\/$/g, '')
      .replaceAll(/^\s*(\*|\/\/) ?/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    about: /\S.*/.exec(source.slice(found.index + found[0].length))?.[0] ?? '',
  }))
}

export function productItems(): Item[] {
  return execFileSync('git', ['ls-files', 'src', 'daemon', 'commands'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.tsx?$/.test(path) && !NOT_READ.test(path))
    .flatMap((path) => itemsOf(path, readFileSync(join(root, path), 'utf8')))
}

/** Mulberry32: the same seed draws the same items. */
function randomOf(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32
  }
}

function print(seed: number): void {
  const random = randomOf(seed)
  const items = productItems()
  for (const kind of ['string', 'comment'] as const) {
    const left = [...new Map(items.filter((one) => one.kind === kind).map((one) => [one.text, one])).values()]
    console.log(`\n${kind.toUpperCase()}S, seed ${seed}, ${DRAWN} of ${left.length}\n`)
    for (let count = 0; count < DRAWN; count += 1) {
      const [one] = left.splice(Math.floor(random() * left.length), 1)
      if (one) console.log(`- ${one.path}: ${one.text}${one.about && `\n    ${one.about}`}`)
    }
  }
}

if (import.meta.main) print(Number(process.argv[2] ?? '1'))
