// Rewrites imports so that a start pays for what it uses, and for nothing else.
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nounScreens } from '../src/nouns/screens.ts'

const LIGHT_TEXT = fileURLToPath(new URL('light-text.ts', import.meta.url))

const FROM_NODE =
  /^import (?:(?<whole>\w+)|\* as (?<star>\w+)|\{(?<names>[^}]*)\}) from ['"](?<from>node:[\w/]+)['"];?$/gm

/** Values that the build reckons once: the program does not load what they are reckoned from. */
const RECKONED = ['src/client/answers.ts', 'src/client/endpoints.ts', 'src/nouns/screens.ts']
const COMMANDS = fileURLToPath(new URL('../commands/index.ts', import.meta.url))
const SCREENS = fileURLToPath(new URL('../src/tui/screen-files.ts', import.meta.url))
const reckoned = new Map([
  ...(await Promise.all(RECKONED.map(valuesOf))),
  [COMMANDS, await commandsText()],
  [SCREENS, await screensText()],
])

async function valuesOf(file: string): Promise<readonly [path: string, text: string]> {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const values: Readonly<Record<string, unknown>> = await import(path)
  const lines = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'function') throw new Error(`${file} exports ${name}, which is no value: move it elsewhere`)
    return `export const ${name} = ${JSON.stringify(value)}`
  })
  return [path, lines.join('\n')]
}

/** The commands with their names and summaries, each beside the file that it is loaded from when it runs. */
async function commandsText(): Promise<string> {
  const { table }: typeof import('../commands/index.ts') = await import(COMMANDS)
  const headings = [...table].map(([heading, rows]) => {
    const shown = rows.map(([name, summary, file, marks]) => {
      const [is, says, from] = [name, summary, `./${file}`].map((value) => JSON.stringify(value))
      const more = Object.keys(marks).length === 0 ? '' : `, ${JSON.stringify(marks)}`
      return `[${is}, ${says}, () => import(${from})${more}]`
    })
    return `${JSON.stringify(heading)}: [${shown.join(',')}]`
  })
  return `import { entriesOf } from '../src/cli/command.ts'\nexport const entries = entriesOf({${headings.join(',')}})`
}

/** The screens with their titles, each beside what loads it when it is opened. */
async function screensText(): Promise<string> {
  const { screenFiles }: typeof import('../src/tui/screen-files.ts') = await import(SCREENS)
  const rows = screenFiles.map(([screen]) => {
    const noun = nounScreens.find(({ id }) => id === screen.id)
    const file = `import(${JSON.stringify(noun ? `../nouns/${noun.file}` : `./${screen.id}/screen.ts`)})`
    const loaded = noun
      ? `(await import('./list/nouns.ts')).nounScreen((await ${file}).${noun.name})`
      : `(await ${file}).screen`
    return `[${JSON.stringify(screen)}, async () => ${loaded}]`
  })
  return `export const screenFiles = [${rows.join(',')}]`
}

// `import { z } from 'zod'` names an object that holds the whole library, all its languages with it; a namespace
// import says the same and lets the bundler leave out what is not used: 454 kB become 85.
function lightZod(text: string): string {
  return text.replace(/^import \{ z \} from 'zod'$/m, "import * as z from 'zod'")
}

// An import of a module of Node evaluates all its lazy members: node:process 4 ms, node:fs 2, node:http 24, of a start
// that may take 30. Taken from the builtin itself, they are as lazy as Node meant them.
function lightNode(text: string): string {
  return text.replace(FROM_NODE, (line) => {
    const { whole, star, names, from } = new RegExp(FROM_NODE.source).exec(line)?.groups ?? {}
    const values = names?.split(',').filter((name) => !/^\s*(type\s|$)/.test(name))
    const bound = whole ?? star ?? `{${values?.map((name) => name.replace(' as ', ': ')).join(',')}}`
    return `const ${bound} = globalThis.process.getBuiltinModule('${from}')`
  })
}

/** The one package on every start. */
const COMMANDER = join('node_modules', 'commander')
const lighterCommander: readonly (readonly [file: string, from: string, to: string])[] = [
  // Its child processes are for a kind of subcommand that is not used here.
  [
    'command.js',
    "import childProcess from 'node:child_process';",
    "const childProcess = { spawn: (...words) => process.getBuiltinModule('node:child_process').spawn(...words) };",
  ],
  // The tables behind a Unicode property take 4 ms to build, for flags that are ASCII.
  ['option.js', '/\\p{ID_Continue}\\.\\.\\.[>\\]]$/u', '/\\w\\.\\.\\.[>\\]]$/'],
]

function lightCommander(text: string, path: string): string {
  const [, from, to] = lighterCommander.find(([file]) => basename(path) === file) ?? []
  if (from === undefined || to === undefined) return lightNode(text)
  if (!text.includes(from)) throw new Error(`${path} no longer holds ${from}: look at it again`)
  return lightNode(text.replace(from, () => to))
}

const SEGMENTER = /new Intl\.Segmenter\((undefined, \{ ?granularity: ['"]grapheme['"] ?\})?\)/

/** What packages that draw make at their start, or ask about every text: file, text, what stands for it. */
const lighterDrawing: readonly (readonly [file: string, from: RegExp, to: string])[] = [
  ['ink/build/line-update.js', SEGMENTER, 'graphemes'],
  ['@alcalzone/ansi-tokenize/build/tokenize.js', SEGMENTER, 'graphemes'],
  ['wrap-ansi/index.js', SEGMENTER, 'graphemes'],
  ['cli-truncate/index.js', SEGMENTER, 'graphemes'],
  ['slice-ansi/tokenize-ansi.js', SEGMENTER, 'graphemes'],
  ['string-width/index.js', SEGMENTER, 'graphemes'],
  [
    'string-width/index.js',
    /const rgiEmojiRegex = (.+);/,
    'let rgiEmoji; const rgiEmojiRegex = { test: (text) => (rgiEmoji ??= $1).test(text) };',
  ],
  ['string-width/index.js', /if \((?=\/\^\[\\u0020)/, 'if (ambiguousIsNarrow ? isNarrow(string) : '],
]

/** A source of a package that draws, as it is bundled; undefined for what is left as it is. */
export function lightDrawing(path: string, text: string): string | undefined {
  const changes = lighterDrawing.filter(([file]) => path.endsWith(join('node_modules', file)))
  if (changes.length === 0) return undefined
  const changed = changes.reduce((before, [file, from, to]) => {
    if (!from.test(before)) throw new Error(`${file} no longer holds ${from}: look at it again`)
    return before.replace(from, to)
  }, text)
  return `import { graphemes, isNarrow } from ${JSON.stringify(LIGHT_TEXT)}\n${changed}`
}

/** A source of ours as it is bundled. */
export function lightOwn(path: string, text: string): string {
  return reckoned.get(path) ?? lightZod(text)
}

/** A source of the command line as it is bundled; undefined for what is left as it is. */
export function lightSource(path: string, text: string): string | undefined {
  if (!path.includes('node_modules')) return lightNode(lightOwn(path, text))
  return path.includes(COMMANDER) ? lightCommander(text, path) : undefined
}
