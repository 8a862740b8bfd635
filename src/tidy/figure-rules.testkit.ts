import {
  castsPerThousand,
  cyclesOf,
  fullFolders,
  graphOf,
  importsOf,
  isBounded,
  isProduct,
  isTest,
  largeFiles,
  linesOfAll,
  longFunctions,
  MAX_CASTS_PER_1000,
  MAX_FILE_LINES,
  MAX_FOLDER_SOURCES,
  MAX_FUNCTION_LINES,
  MAX_IMPORT_CHAIN,
  MAX_PRODUCT_LINES,
  MAX_SHORT_FILES,
  MIN_FILE_LINES,
  MIN_MEDIAN_LINES,
  medianLines,
  mutualFolders,
  SECOND_ENGINE_LINES,
  type Source,
  screenImports,
  shortFiles,
  sourcesOf,
  typesTwice,
} from '../../bin/figures.ts'
import type { Tree, TreeRule } from './tree-rules.testkit.ts'

/* What `npm run map` counts and what has a bound: counted here by the same code. */

const parsed = new WeakMap<Tree, Source[]>()

function sourcesIn(tree: Tree): Source[] {
  const known = parsed.get(tree)
  if (known !== undefined) return known
  const sources = sourcesOf(tree)
  parsed.set(tree, sources)
  return sources
}

const code = (tree: Tree): Source[] => sourcesIn(tree).filter((source) => !isTest(source))
const product = (tree: Tree): Source[] => sourcesIn(tree).filter(isProduct)
/** Lines that the product may have outside of the second engine's folder. */
const MOST_LINES = MAX_PRODUCT_LINES + SECOND_ENGINE_LINES
const lines = (count: number, line = '') => `${line}\n`.repeat(count)
const folderOfFiles = (folder: string, count: number): Tree =>
  new Map(Array.from({ length: count }, (_, index) => [`${folder}/${index}.ts`, 'export const a = 1']))
const chainOf = (count: number): Tree =>
  new Map(Array.from({ length: count }, (_, index) => [`src/${index}.ts`, `import './${index + 1}.ts'`]))
const at = (path: string, text: string): Tree => new Map([[path, text]])

export const figureRules: readonly TreeRule[] = [
  {
    name: 'long-function',
    instead: `cut it: at most ${MAX_FUNCTION_LINES} lines, blank ones and comments too`,
    find: (tree) => code(tree).flatMap(longFunctions),
    plant: at('src/a.ts', `const f = () => {\n${lines(MAX_FUNCTION_LINES - 1)}}`),
    spare: at('src/a.ts', `const f = () => {\n${lines(MAX_FUNCTION_LINES - 2)}}`),
  },
  {
    name: 'large-file',
    instead: `part it: at most ${MAX_FILE_LINES} lines`,
    find: (tree) => largeFiles(code(tree)),
    plant: at('src/a.ts', lines(MAX_FILE_LINES + 1)),
    spare: at('src/a.ts', lines(MAX_FILE_LINES)),
  },
  {
    name: 'cast',
    instead: 'let a type, a guard or a schema say it: `npm run map` prints the count',
    find: (tree) => {
      const figure = castsPerThousand(product(tree))
      return figure > MAX_CASTS_PER_1000 ? [`${figure.toFixed(2)} casts per 1000 lines`] : []
    },
    plant: at('src/a.ts', `${lines(999)}const a = b as unknown as C as D as E`),
    spare: at('src/a.ts', `${lines(999)}const a = b as unknown as C as D\nconst d = [1] as const`),
  },
  {
    name: 'type-name-twice',
    instead: 'one concept: import it; two concepts: two names',
    find: (tree) => typesTwice(product(tree)),
    plant: new Map([
      ['src/a.ts', 'export type Entry = 1'],
      ['daemon/b.ts', 'export type Entry = 2'],
    ]),
    spare: new Map([
      ['src/a.ts', 'export type Entry = 1'],
      ['daemon/b.ts', 'type Entry = 2\nexport type Draft = Entry'],
    ]),
  },
  {
    name: 'full-folder',
    instead: `part it into rooms with names of their own: a folder has at most ${MAX_FOLDER_SOURCES} sources`,
    find: (tree) => fullFolders(product(tree)),
    plant: folderOfFiles('src/cli', MAX_FOLDER_SOURCES + 1),
    spare: new Map([
      ...folderOfFiles('src/cli', MAX_FOLDER_SOURCES),
      ...folderOfFiles('src/cli/files', 1),
      ...folderOfFiles('commands', MAX_FOLDER_SOURCES + 1),
    ]),
  },
  {
    name: 'mutual-folders',
    instead: 'move what both need below them: of two folders, one imports the other',
    find: (tree) => mutualFolders(graphOf(product(tree))),
    plant: new Map([
      ['src/a/one.ts', "import type { Two } from '../b/two.ts'"],
      ['src/a/three.ts', 'export const three = 3'],
      ['src/b/two.ts', "export { three } from '../a/three.ts'"],
    ]),
    spare: new Map([
      ['src/a/one.ts', "import type { Two } from '../b/two.ts'"],
      ['src/b/two.ts', 'export type Two = 2'],
      ['src/b/two.test.ts', "import '../a/one.ts'"],
    ]),
  },
  {
    name: 'screens-apart',
    instead: 'move what two screens show to src/tui/shell or src/tui/job: no screen imports another',
    find: (tree) => screenImports(graphOf(product(tree))),
    plant: new Map([
      ['src/tui/jobs/screen.ts', "import { a } from '../money/rows.ts'"],
      ['src/tui/money/rows.ts', 'export const a = 1'],
    ]),
    spare: new Map([
      ['src/tui/jobs/screen.ts', "import { a } from '../shell/rows.ts'\nimport { b } from './b.ts'"],
      ['src/tui/jobs/b.ts', 'export const b = 1'],
      ['src/tui/shell/rows.ts', 'export const a = 1'],
    ]),
  },
  {
    name: 'import-chain',
    instead: `hand in what a file above knows, or move what both need down: at most ${MAX_IMPORT_CHAIN} files import on each other`,
    find: (tree) => over(cyclesOf(graphOf(product(tree))).longest, MAX_IMPORT_CHAIN, 'files in a chain of imports'),
    plant: chainOf(MAX_IMPORT_CHAIN + 1),
    spare: chainOf(MAX_IMPORT_CHAIN),
  },
  {
    name: 'product-lines',
    instead: `take something away: the product has at most ${MOST_LINES} lines`,
    find: (tree) => over(linesOfAll(product(tree).filter(isBounded)), MOST_LINES, 'lines'),
    plant: at('src/a.ts', lines(MOST_LINES + 1)),
    spare: at('src/a.ts', lines(MOST_LINES)),
  },
  {
    name: 'short-files',
    instead: `join them to what they belong to: at most ${MAX_SHORT_FILES} files have less than ${MIN_FILE_LINES} lines`,
    find: (tree) => over(shortFiles(product(tree)).length, MAX_SHORT_FILES, 'short files'),
    plant: new Map([...folderOfFiles('src/a', MAX_SHORT_FILES), ['src/b.ts', 'export const a = 1']]),
    spare: folderOfFiles('src/a', MAX_SHORT_FILES),
  },
  {
    name: 'median-file',
    instead: `a file worth opening: half of them have at least ${MIN_MEDIAN_LINES} lines`,
    find: (tree) => over(MIN_MEDIAN_LINES, medianLines(product(tree)), 'lines wanted of half of the files'),
    plant: at('src/a.ts', lines(MIN_MEDIAN_LINES - 1)),
    spare: at('src/a.ts', lines(MIN_MEDIAN_LINES)),
  },
  {
    name: 'short-file',
    instead: `join it to the one file that imports it: a file of its own has ${MIN_FILE_LINES} lines, or readers`,
    find: (tree) => lonelyFiles(sourcesIn(tree)),
    plant: new Map([
      ['src/text/a.ts', 'export const a = 1'],
      ['src/text/b.ts', "import { a } from './a.ts'"],
    ]),
    spare: new Map([
      ['src/text/a.ts', 'export const a = 1'],
      ['src/text/b.ts', "import { a } from './a.ts'"],
      ['src/text/a.test.ts', "import { a } from './a.ts'"],
    ]),
  },
]

function over(figure: number, bound: number, what: string): string[] {
  return figure > bound ? [`${figure} ${what}`] : []
}

/** Files whose place and name are a promise: what is listed by name is found by name. */
const NAMED = /(^|\/)(index|routes|rows)\.ts$|define(Service|Cron|Command|Call)\(/

/** Short files of which one other file of their folder is the only reader, tests counted. */
function lonelyFiles(sources: readonly Source[]): string[] {
  const readers = new Map<string, Set<string>>()
  for (const source of sources) {
    for (const to of importsOf(source)) readers.set(to, (readers.get(to) ?? new Set()).add(source.path))
  }
  const short = new Set(shortFiles(sources.filter(isProduct)))
  return sources
    .filter(({ path }) => short.has(path))
    .filter(({ path, text }) => !NAMED.test(path) && !NAMED.test(text))
    .filter(({ path }) => {
      const [reader, ...more] = readers.get(path) ?? []
      return reader !== undefined && more.length === 0 && folderOf(reader) === folderOf(path)
    })
    .map(({ path }) => path)
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
