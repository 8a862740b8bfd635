import { dirname, join } from 'node:path'
import ts from 'typescript'

/* What is counted of the sources: `npm run map` prints it, and the tidy test holds it to its bounds. */

export const AREAS = ['bin', 'commands', 'daemon', 'src'] as const
export const MAX_FUNCTION_LINES = 60
export const MAX_FILE_LINES = 400
export const MAX_FOLDER_SOURCES = 25
export const MAX_CASTS_PER_1000 = 3
export const MIN_FILE_LINES = 25
/** Files under that, the median of all, and all lines of the product: what it was brought to, and does not leave. */
export const MAX_SHORT_FILES = 45
export const MIN_MEDIAN_LINES = 97
/** Who adds takes away. 668 of them are the second base of the store. */
export const MAX_PRODUCT_LINES = 128_385
/** Files in the longest way down the imports, types included. */
export const MAX_IMPORT_CHAIN = 22
const PER_LINES = 1_000

/** Folders that list one file for each thing of a kind: the headings of commands, the sections of the contract. */
const LISTS: ReadonlySet<string> = new Set(['commands', 'src/api/sections'])

const NOT_SOURCE = /\.(test|testkit|d)\.tsx?$/

export type Source = { readonly path: string; readonly text: string; readonly tree: ts.SourceFile }

/** The TypeScript among some files, parsed; blank lines and comments count like any others. */
export function sourcesOf(files: Iterable<readonly [path: string, text: string]>): Source[] {
  return [...files]
    .filter(([path]) => AREAS.some((area) => path.startsWith(`${area}/`)) && /\.tsx?$/.test(path))
    .map(([path, text]) => ({ path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest) }))
}

export const isTest = ({ path }: Source): boolean => NOT_SOURCE.test(path)

/** What the bound of all lines counts: the second engine of the store, which nobody needs to run a market, is apart. */
export const isBounded = ({ path }: Source): boolean => !path.startsWith('daemon/store/postgres/')

/** What the rest of the product has for that engine: options, daemons that hand requests to the leader, /ready, the note in /health, the mark in the data folder, `souk store copy`. */
export const SECOND_ENGINE_LINES = 772

/** What is shipped: neither tests and what they share, nor the scripts of `bin/`. */
export const isProduct = (source: Source): boolean => !isTest(source) && !source.path.startsWith('bin/')

export const linesOf = (text: string): number => text.replace(/\n$/, '').split('\n').length

export const linesOfAll = (sources: readonly Source[]): number =>
  sources.reduce((sum, { text }) => sum + linesOf(text), 0)

function everyNode(tree: ts.SourceFile, see: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    see(node)
    ts.forEachChild(node, walk)
  }
  walk(tree)
}

/** Relative imports of a file, types included, as paths from the root. */
export function importsOf({ path, tree }: Source): string[] {
  const found: string[] = []
  everyNode(tree, (node) => {
    const name = specifierOf(node)
    if (name?.startsWith('.')) found.push(join(dirname(path), name))
  })
  return found
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const { moduleSpecifier: from } = node
    return from !== undefined && ts.isStringLiteral(from) ? from.text : undefined
  }
  if (!ts.isImportTypeNode(node) || !ts.isLiteralTypeNode(node.argument)) return undefined
  return ts.isStringLiteral(node.argument.literal) ? node.argument.literal.text : undefined
}

/** `path:line` of each function that is too long, whatever its form. */
export function longFunctions({ tree, path }: Source): string[] {
  const found: string[] = []
  everyNode(tree, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node)) return
    const [first, last] = [node.getStart(tree), node.end].map((at) => tree.getLineAndCharacterOfPosition(at).line)
    if (first !== undefined && last !== undefined && last - first >= MAX_FUNCTION_LINES)
      found.push(`${path}:${first + 1}`)
  })
  return found
}

export const largeFiles = (sources: readonly Source[]): string[] =>
  sources.filter(({ text }) => linesOf(text) > MAX_FILE_LINES).map(({ path }) => path)

/** `x as T` and `<T>x`: a chain counts each of its links. `as const` says nothing that the compiler does not see. */
export function castsOf({ tree }: Source): number {
  let count = 0
  everyNode(tree, (node) => {
    if (ts.isTypeAssertionExpression(node)) count += 1
    if (ts.isAsExpression(node) && node.type.getText(tree) !== 'const') count += 1
  })
  return count
}

export function castsPerThousand(sources: readonly Source[]): number {
  const casts = sources.reduce((sum, source) => sum + castsOf(source), 0)
  return (casts * PER_LINES) / Math.max(1, linesOfAll(sources))
}

/** Names of exported types that two files declare, each with its files. */
export function typesTwice(sources: readonly Source[]): string[] {
  const declared = sources.flatMap((source) => exportedTypes(source).map((name) => ({ name, path: source.path })))
  return [...Map.groupBy(declared, ({ name }) => name)]
    .filter(([, found]) => found.length > 1)
    .map(([name, found]) => `${name} (${found.map(({ path }) => path).join(', ')})`)
}

function exportedTypes({ tree }: Source): string[] {
  return tree.statements.flatMap((node) =>
    (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) &&
    node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      ? [node.name.text]
      : [],
  )
}

export type Graph = ReadonlyMap<string, readonly string[]>

export function graphOf(sources: readonly Source[]): Graph {
  const paths = new Set(sources.map(({ path }) => path))
  return new Map(sources.map((source) => [source.path, importsOf(source).filter((to) => paths.has(to))]))
}

/** `folder count` of those that hold more sources than one looks through. */
export function fullFolders(sources: readonly Source[]): string[] {
  return [...Map.groupBy(sources, ({ path }) => dirname(path))]
    .filter(([folder, files]) => files.length > MAX_FOLDER_SOURCES && !LISTS.has(folder))
    .map(([folder, files]) => `${folder} ${files.length}`)
}

export const shortFiles = (sources: readonly Source[]): string[] =>
  sources.filter(({ text }) => linesOf(text) < MIN_FILE_LINES).map(({ path }) => path)

export function medianLines(sources: readonly Source[]): number {
  const all = sources.map(({ text }) => linesOf(text)).sort((a, b) => a - b)
  return all[Math.floor(all.length / 2)] ?? 0
}

/** The cockpit's folders that are no screen: what screens stand on. */
const BELOW_SCREENS: ReadonlySet<string> = new Set(['shell', 'parts', 'list', 'feed', 'job'])

/** `file -> file` where one screen of the cockpit imports another. */
export function screenImports(graph: Graph): string[] {
  const screenOf = (path: string) => {
    const folder = /^src\/tui\/([^/]+)\//.exec(path)?.[1]
    return folder === undefined || BELOW_SCREENS.has(folder) ? undefined : folder
  }
  return [...graph].flatMap(([file, targets]) => {
    const own = screenOf(file)
    const others = targets.filter((to) => ![undefined, own].includes(screenOf(to)))
    return own === undefined ? [] : others.map((to) => `${file} -> ${to}`)
  })
}

/** Pairs of folders of which each imports the other, types included. */
export function mutualFolders(graph: Graph): string[] {
  const arrows = new Set<string>()
  for (const [file, targets] of graph) for (const to of targets) arrows.add(`${dirname(file)} ${dirname(to)}`)
  const turned = (arrow: string) => arrow.split(' ').reverse().join(' ')
  return [...arrows].filter((arrow) => arrow < turned(arrow) && arrows.has(turned(arrow)))
}

/** Groups of files that reach each other (Tarjan), and the longest way down the imports without them. */
export function cyclesOf(graph: Graph): { cycles: string[][]; longest: number } {
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
