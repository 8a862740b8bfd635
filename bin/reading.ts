// `node bin/reading.ts SEED`: draws 60 strings and 60 comments of the product for a reader who did not write them.
// The goal: at most 3 of each have to be read twice.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const DRAWN = 60
const MIN_WORDS = 4
/** Longer literals are data or programs. */
const MAX_CHARS = 500
const NOT_READ = /\.(test|testkit|fake)\.tsx?$|^commands\/outputs\.ts$/
const STRING = /'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\]|\\.)+)`/g
const COMMENT = /\/\*\*? ?([\s\S]*?)\*\/|^\s*\/\/ (.+)$/gm

const root = fileURLToPath(new URL('..', import.meta.url))
const seed = Number(process.argv[2] ?? '1')

const files = execFileSync('git', ['ls-files', 'src', 'daemon', 'commands'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && !NOT_READ.test(path))
const texts = files.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const)

/** What a pattern finds in all files, with its place; only what has enough words to be misread. */
function found(pattern: RegExp, textOf: (text: string) => string): string[] {
  return texts.flatMap(([path, text]) =>
    [...textOf(text).matchAll(pattern)].flatMap((match) => {
      const words =
        match
          .slice(1)
          .find(Boolean)
          ?.replaceAll(/\s*\n\s*\* ?/g, ' ')
          .trim() ?? ''
      return words.length > MAX_CHARS || words.split(' ').length < MIN_WORDS || /import |^[\w.]+\(/.test(words)
        ? []
        : [`${path}: ${words}`]
    }),
  )
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

function drawn(items: readonly string[], random: () => number): string[] {
  const left = [...items]
  return Array.from(
    { length: Math.min(DRAWN, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0] ?? '',
  )
}

const random = randomOf(seed)
const withoutComments = (text: string) => text.replaceAll(COMMENT, '')
for (const [title, items] of [
  ['STRINGS', found(STRING, withoutComments)],
  ['COMMENTS', found(COMMENT, (text) => text)],
] as const) {
  console.log(`\n${title}, seed ${seed}, ${DRAWN} of ${items.length}\n`)
  for (const item of drawn(items, random)) console.log(`- ${item}`)
}
