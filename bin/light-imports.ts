// Rewrites imports so that a start pays for what it uses, and for nothing else.
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nounScreens } from '../src/nouns/screens.ts'

const LIGHT_TEXT = fileURLToPath(new URL('light-text.ts', import.meta.url))

const FROM_NODE =
  /^import (?!type )(?:(?<whole>\w+)|\* as (?<star>\w+))?(?:, )?(?:\{(?<names>[^}]*)\})? from ['"](?<from>node:[\w/]+)['"];?$/gm

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

/** Modules of Node that take long to load: each of their functions loads its own when it is called. */
const SLOW = new Set(['node:child_process', 'node:crypto', 'node:v8'])

/** Whether it is a function: a class, whose name begins with a capital, must be there as it is. */
function isLate(from: string, name: string): boolean {
  if (!SLOW.has(from) || /^[A-Z]/.test(name)) return false
  return typeof Reflect.get(process.getBuiltinModule(from) ?? {}, name) === 'function'
}

// An import of a module of Node evaluates all its lazy members: node:process 4 ms, node:fs 2, node:http 24, of a start
// that may take 30. Taken from the builtin itself, they are as lazy as Node meant them.
function lightNode(text: string): string {
  return text.replace(FROM_NODE, (line) => {
    const { whole, star, names = '', from = '' } = new RegExp(FROM_NODE.source).exec(line)?.groups ?? {}
    const builtin = `globalThis.process.getBuiltinModule('${from}')`
    const wanted = names.split(',').flatMap((one) => {
      const [name = '', as = name] = one.trim().split(' as ')
      return name === '' || name.startsWith('type ') ? [] : [{ name, as }]
    })
    const { late = [], early = [] } = Object.groupBy(wanted, ({ name }) => (isLate(from, name) ? 'late' : 'early'))
    const given = [whole, star, early.length > 0 ? `{ ${early.map(({ name, as }) => `${name}: ${as}`)} }` : undefined]
    const bound = [
      ...given.filter((one) => one !== undefined).map((one) => `${one} = ${builtin}`),
      ...late.map(({ name, as }) => `${as} = (...all) => ${builtin}.${name}(...all)`),
    ]
    return bound.length === 0 ? '' : `const ${bound.join(', ')}`
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

/** What packages make at their start, or ask about every text: file, text, what stands for it. */
const lighterPackages: readonly (readonly [file: string, from: RegExp, to: string])[] = [
  // It checks that it is given a function, and is.
  ['signal-exit/index.js', /require\('assert'\)/, '{ equal: () => undefined }'],
  [
    '@noble/hashes/esm/cryptoNode.js',
    /^import \* as nc[\s\S]*$/m,
    'export const crypto = { getRandomValues: (bytes) => globalThis.crypto.getRandomValues(bytes) }',
  ],
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

/** A source of a package as it is bundled; undefined for what is left as it is. */
function lightPackage(path: string, text: string): string | undefined {
  const changes = lighterPackages.filter(([file]) => path.endsWith(join('node_modules', file)))
  if (changes.length === 0) return undefined
  const changed = changes.reduce((before, [file, from, to]) => {
    if (!from.test(before)) throw new Error(`${file} no longer holds ${from}: look at it again`)
    return before.replace(from, to)
  }, text)
  const isText = /graphemes|isNarrow/.test(changed)
  return isText ? `import { graphemes, isNarrow } from ${JSON.stringify(LIGHT_TEXT)}\n${changed}` : changed
}

/** A source of ours, or of a package, as it is bundled; undefined for what is left as it is. */
export function lightPart(path: string, text: string): string | undefined {
  return path.includes('node_modules') ? lightPackage(path, text) : (reckoned.get(path) ?? lightZod(text))
}

/** A source of the cockpit or the command line as it is bundled. */
export function lightFront(path: string, text: string): string {
  if (path.includes(COMMANDER)) return lightCommander(text, path)
  return lightNode(lightPart(path, text) ?? text)
}
