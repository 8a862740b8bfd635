// `npm run map`: figures of the structure, one a line, so that two checkouts can be compared.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  AREAS,
  castsPerThousand,
  cyclesOf,
  fullFolders,
  graphOf,
  isProduct,
  isTest,
  largeFiles,
  linesOfAll,
  longFunctions,
  MAX_FILE_LINES,
  MAX_FOLDER_SOURCES,
  MAX_FUNCTION_LINES,
  MIN_FILE_LINES,
  medianLines,
  mutualFolders,
  type Source,
  screenImports,
  shortFiles,
  sourcesOf,
  typesTwice,
} from './figures.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function sources(): Source[] {
  const listed = execFileSync('git', ['ls-files', ...AREAS], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  return sourcesOf(listed.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

function print(name: string, value: string | number, more: readonly string[] = []): void {
  console.log(`${name.padEnd(36)} ${value}${more.length === 0 ? '' : `   ${more.slice(0, 8).join(' · ')}`}`)
}

function main(): void {
  const all = sources()
  const product = all.filter(isProduct)
  const graph = graphOf(product)
  const folders = new Set(product.map(({ path }) => dirname(path)))
  const full = fullFolders(product)
  const { cycles, longest } = cyclesOf(graph)
  const groups = cycles.map((group) => `${group.length} files with ${group[0]}`)
  const mutual = mutualFolders(graph)
  const code = all.filter((source) => !isTest(source))
  const long = code.flatMap(longFunctions)
  const large = largeFiles(code)
  const twice = typesTwice(product)
  print('product files', product.length)
  print('product lines', linesOfAll(product))
  print(`files under ${MIN_FILE_LINES} lines`, shortFiles(product).length)
  print('median lines of a file', medianLines(product))
  print('folders', folders.size)
  print(`folders of over ${MAX_FOLDER_SOURCES} sources`, full.length, full)
  print('import cycles, types included', cycles.length, groups)
  print('folders that import each other', mutual.length, mutual)
  const between = screenImports(graph)
  print('imports between screens', between.length, between)
  print('longest import chain', longest)
  print(`functions over ${MAX_FUNCTION_LINES} lines`, long.length, long)
  print(`files over ${MAX_FILE_LINES} lines`, large.length, large)
  print('casts per 1000 lines', castsPerThousand(product).toFixed(2))
  print('type names exported twice', twice.length, twice)
  for (const area of AREAS) {
    const inArea = all.filter(({ path }) => path.startsWith(`${area}/`))
    const ratio = linesOfAll(inArea.filter(isTest)) / linesOfAll(inArea.filter((source) => !isTest(source)))
    print(`lines of tests / of code, ${area}`, ratio.toFixed(2))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
