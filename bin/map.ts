// `npm run map`: figures of the structure, one a line, so that two checkouts can be compared.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const NOT_SOURCE = /\.(test|testkit|d)\.tsx?$/
const AREAS = ['bin', 'commands', 'daemon', 'src'] as const
const MAX_FUNCTION_LINES = 60
const MAX_FILE_LINES = 400
const MAX_FOLDER_SOURCES = 25
const PER_LINES = 1_000

type Source = { readonly path: string; readonly text: string; readonly tree: ts.SourceFile }

function sources(): Source[] {
  const listed = execFileSync('git', ['ls-files', ...AREAS], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  return listed
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) }
    })
}

/** Relative imports of a file, types included, as paths from the root. */
function importsOf({ path, tree }: Source): string[] {
  const found: string[] = []
  const walk = (node: ts.Node): void => {
    const name = specifierOf(node)
    if (name?.startsWith('.')) found.push(join(dirname(path), name))
    ts.forEachChild(node, walk)
  }
  walk(tree)
  return found
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) return node.moduleSpecifier.text
  if (!ts.isImportTypeNode(node) || !ts.isLiteralTypeNode(node.argument)) return undefined
  return ts.isStringLiteral(node.argument.literal) ? node.argument.literal.text : undefined
}

type Graph = ReadonlyMap<string, readonly string[]>

/** Groups of files that reach each other (Tarjan), and the longest way down the imports without them. */
function cyclesOf(graph: Graph): { cycles: string[][]; longest: number } {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const depth = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const leave = (file: string): void => {
    if (low.get(file) !== order.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) cycles.push(group)
  }
  const visit = (file: string): number => {
    let lowest = order.size
    order.set(file, lowest)
    stack.push(file)
    const targets = graph.get(file) ?? []
    for (const next of targets) {
      const reached = order.has(next) ? low.get(next) : visit(next)
      if (stack.includes(next) && reached !== undefined) lowest = Math.min(lowest, reached)
      low.set(file, lowest)
    }
    low.set(file, lowest)
    depth.set(file, 1 + Math.max(0, ...targets.map((next) => depth.get(next) ?? 0)))
    leave(file)
    return lowest
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return { cycles, longest: Math.max(0, ...depth.values()) }
}

function mutualFolders(graph: Graph): string[] {
  const arrows = new Set<string>()
  for (const [file, targets] of graph) for (const to of targets) arrows.add(`${dirname(file)} ${dirname(to)}`)
  const turned = (arrow: string) => arrow.split(' ').reverse().join(' ')
  return [...arrows].filter((arrow) => arrow < turned(arrow) && arrows.has(turned(arrow)))
}

const linesOf = (text: string): number => text.split('\n').length

function longFunctions({ tree, path }: Source): string[] {
  const found: string[] = []
  const walk = (node: ts.Node): void => {
    const isFunction = ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isMethodDeclaration(node)
    if (isFunction && linesOf(node.getText(tree)) > MAX_FUNCTION_LINES) {
      found.push(`${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`)
    }
    ts.forEachChild(node, walk)
  }
  walk(tree)
  return found
}

function castsOf({ tree }: Source): number {
  let count = 0
  const walk = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && node.type.getText(tree) !== 'const') count += 1
    ts.forEachChild(node, walk)
  }
  walk(tree)
  return count
}

function exportedTypes({ tree }: Source): string[] {
  return tree.statements.flatMap((node) =>
    ts.isTypeAliasDeclaration(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      ? [node.name.text]
      : [],
  )
}

function print(name: string, value: string | number, more: readonly string[] = []): void {
  console.log(`${name.padEnd(36)} ${value}${more.length === 0 ? '' : `   ${more.slice(0, 8).join(' · ')}`}`)
}

function main(): void {
  const all = sources()
  const product = all.filter(({ path }) => !NOT_SOURCE.test(path) && !path.startsWith('bin/'))
  const paths = new Set(product.map(({ path }) => path))
  const graph = new Map(product.map((file) => [file.path, importsOf(file).filter((to) => paths.has(to))]))
  const folders = Map.groupBy(product, ({ path }) => dirname(path))
  const full = [...folders].filter(([, files]) => files.length > MAX_FOLDER_SOURCES)
  const { cycles, longest } = cyclesOf(graph)
  const mutual = mutualFolders(graph)
  const lines = product.reduce((sum, { text }) => sum + linesOf(text), 0)
  const casts = product.reduce((sum, file) => sum + castsOf(file), 0)
  const twice = [...Map.groupBy(product.flatMap(exportedTypes), (name) => name)].filter(([, found]) => found.length > 1)
  print('product files', product.length)
  print('product lines', lines)
  print('folders', folders.size)
  print(
    `folders of over ${MAX_FOLDER_SOURCES} sources`,
    full.length,
    full.map(([name, files]) => `${name} ${files.length}`),
  )
  print(
    'import cycles, types included',
    cycles.length,
    cycles.map((group) => `${group.length} files with ${group[0]}`),
  )
  print('folders that import each other', mutual.length, mutual)
  print('longest import chain', longest)
  const long = product.flatMap(longFunctions)
  print(`functions over ${MAX_FUNCTION_LINES} lines`, long.length, long)
  const large = product.filter(({ text }) => linesOf(text) > MAX_FILE_LINES)
  print(
    `files over ${MAX_FILE_LINES} lines`,
    large.length,
    large.map(({ path }) => path),
  )
  print(`casts per ${PER_LINES} lines`, ((casts * PER_LINES) / lines).toFixed(2))
  print(
    'type names exported twice',
    twice.length,
    twice.map(([name]) => name),
  )
  for (const area of AREAS) {
    const tested = all.filter(({ path }) => path.startsWith(`${area}/`))
    const tests = tested.filter(({ path }) => NOT_SOURCE.test(path)).reduce((sum, { text }) => sum + linesOf(text), 0)
    const code = tested.filter(({ path }) => !NOT_SOURCE.test(path)).reduce((sum, { text }) => sum + linesOf(text), 0)
    print(`lines of tests / of code, ${area}`, (tests / code).toFixed(2))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
