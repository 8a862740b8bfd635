import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { entries } from '../commands/index.ts'
import type { Endpoint } from '../src/api/endpoint/define.ts'
import { templatePath } from '../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../src/api/index.ts'

const ROOT = join(import.meta.dirname, '..')
/** Sends any request: it says nothing about which. */
const ANY = 'commands/api.ts'
/** What commands share; whatever is called there is called by those that import it. */
const SHARED = /^src\/(cli\/nouns|cli\/[\w-]+\.ts|provider|lifecycle)/

/** `page`: for people to look at; `callback`: called by somebody else's server. */
export type CalledBy = {
  readonly name: EndpointName
  readonly commands: readonly string[]
  readonly apart?: 'page' | 'callback'
}

/** Which commands call each endpoint: those that print its answer, or name it in their own text, or in what they share. */
export async function endpointCommands(): Promise<CalledBy[]> {
  const loaded = await Promise.all(
    entries.map(async ({ name, load }) => [name, (await load()).command.prints] as const),
  )
  const printed = new Map(loaded)
  const files = globSync('commands/**/*.ts', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'))
  const commands = files
    .filter((file) => !file.endsWith('.test.ts') && file !== ANY)
    .flatMap(commandsOf)
    .filter(({ name }) => !name.startsWith('__'))
    .sort((one, two) => (one.name < two.name ? -1 : 1))
  return endpointNames.map((name) => {
    const calls = (text: string) => new RegExp(`(?:\\(|[:?] |=> |, )'${name}'`).test(text)
    const own = commands.filter(({ text }) => calls(text))
    const isShared = ({ shared }: CommandText) => shared.some((path) => calls(textOf(path)))
    const found = commands.filter(
      (one) => printed.get(one.name) === name || (own.length > 0 ? own.includes(one) : isShared(one)),
    )
    return { name, commands: found.map((one) => one.name), ...apartOf(name) }
  })
}

type CommandText = { readonly name: string; readonly text: string; readonly shared: readonly string[] }

/** The commands of a file, each with what it uses of the rest of it, and the shared files that it gets to by this. */
function commandsOf(file: string): CommandText[] {
  const tree = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest)
  const all = tree.statements.map((node) => ({ node, text: node.getText(tree) }))
  return all.flatMap(({ text }) => {
    const name = /^export const \w+ = \w+\((?:\w+, )?\{\s*name: '([^']+)'/.exec(text)?.[1]
    if (name === undefined) return []
    const used = new Set([text])
    for (const one of used) {
      const words = new Set(one.match(/\w+/g))
      for (const { node, text: other } of all) if (namesIn(node).some((word) => words.has(word))) used.add(other)
    }
    const paths = [...used].flatMap((one) => pathsIn(file, one))
    const shared = new Set(paths.flatMap((path) => [path, ...sharedBy(path)]))
    // What it prints is not what it calls: others may call it for it.
    const own = [...used].filter((one) => !one.startsWith('import ')).join('\n')
    return [{ name, text: own.replace(/^ {2}(prints|like): .*$/gm, ''), shared: [...shared] }]
  })
}

/** What a statement of a file declares or imports, and no command: one does not use another. */
function namesIn(node: ts.Statement): string[] {
  if (ts.isVariableStatement(node)) {
    if (node.modifiers !== undefined) return []
    return node.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  }
  if (ts.isFunctionDeclaration(node)) return node.name === undefined ? [] : [node.name.text]
  if (!ts.isImportDeclaration(node)) return []
  const bound = node.importClause?.namedBindings
  return bound !== undefined && ts.isNamedImports(bound) ? bound.elements.map(({ name }) => name.text) : []
}

function apartOf(name: EndpointName): Pick<CalledBy, 'apart'> {
  const { access, section, servedWith }: Endpoint = api[name]
  if (section === 'Pages') return { apart: 'page' }
  if (servedWith !== undefined) return { apart: 'callback' }
  return access.kind === 'token' && access.at === 'body' ? { apart: 'callback' } : {}
}

const texts = new Map<string, string>()
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8')
  texts.set(file, text)
  return text
}

/** Shared files that a file imports, and those that these import. */
function sharedBy(file: string, seen = new Set<string>()): string[] {
  for (const shared of pathsIn(file, textOf(file))) {
    if (seen.has(shared)) continue
    seen.add(shared)
    sharedBy(shared, seen)
  }
  return [...seen]
}

/** The shared files that a text of a file names. */
function pathsIn(file: string, text: string): string[] {
  return [...text.matchAll(/'(\.{1,2}\/[^']+\.ts)'/g)]
    .map(([, path = '']) => normalize(join(dirname(file), path)).replaceAll('\\', '/'))
    .filter((path) => SHARED.test(path))
}

/** The page: a line for each endpoint. */
export async function endpointCommandTable(): Promise<string> {
  const rows = (await endpointCommands()).map(({ name, commands, apart }) => {
    const { method, path } = api[name]
    const called = commands.map((command) => `\`souk ${command}\``).join(', ')
    return `| ${method} | \`${templatePath(path)}\` | ${called || apart} |`
  })
  return ['| Method | Path | Command |', '|---|---|---|', ...rows].join('\n')
}
