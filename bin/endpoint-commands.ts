import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { entries } from '../commands/index.ts'
import { type Endpoint, templatePath } from '../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../src/api/index.ts'
import { formatPrice } from '../src/core/money.ts'

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
    const found = commands.filter(
      (one) => printed.get(one.name) === name || (own.length > 0 ? own.includes(one) : calls(one.shared)),
    )
    return { name, commands: found.map((one) => one.name), ...apartOf(name) }
  })
}

type CommandText = { readonly name: string; readonly text: string; readonly shared: string }

/** The commands of a file, each with what it uses of the rest of it, and what that uses of what commands share. */
function commandsOf(file: string): CommandText[] {
  return [...statementsOf(file).declared].flatMap(([exported, { node, text }]) => {
    const name = /^export const \w+ = \w+\((?:\w+, )?\{\s*name: '([^']+)'/.exec(text)?.[1]
    if (name === undefined) return []
    const reached = new Map<ts.Statement, Reached>()
    reach({ file, name: exported }, reached)
    const textsOf = (isOwn: boolean) =>
      [...reached.values()].flatMap((one) => ((one.file === file) === isOwn ? [one.text] : [])).join('\n')
    reached.delete(node)
    // What it prints is not what it calls: others may call it for it.
    return [
      { name, text: `${text.replace(/^ {2}(prints|like): .*$/gm, '')}\n${textsOf(true)}`, shared: textsOf(false) },
    ]
  })
}

type Reached = { readonly file: string; readonly text: string }
type Place = { readonly file: string; readonly name: string }

/** What declares a name, and all that this uses in turn, there and in what commands share. */
function reach({ file, name }: Place, reached: Map<ts.Statement, Reached>): void {
  const { declared, imported } = statementsOf(file)
  const found = declared.get(name)
  const from = imported.get(name)
  if (found === undefined && from !== undefined && SHARED.test(from.file)) reach(from, reached)
  // One command does not use another.
  const isCommand = reached.size > 0 && /^export const \w+ = (define|list)\w+\(/.test(found?.text ?? '')
  if (found === undefined || reached.has(found.node) || isCommand) return
  reached.set(found.node, { file, text: found.text })
  for (const used of usedIn(file, found.node)) reach(used, reached)
}

type Statements = {
  readonly declared: ReadonlyMap<string, { readonly node: ts.Statement; readonly text: string }>
  /** Values, where they come from. */
  readonly imported: ReadonlyMap<string, Place>
}

const known = new Map<string, Statements>()
function statementsOf(file: string): Statements {
  const before = known.get(file)
  if (before !== undefined) return before
  const tree = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true)
  const declared = new Map(
    tree.statements.flatMap((node) => namesIn(node).map((name) => [name, { node, text: node.getText(tree) }] as const)),
  )
  const imported = new Map(tree.statements.flatMap((node) => importsIn(file, node)))
  const statements = { declared, imported }
  known.set(file, statements)
  return statements
}

/** What a statement declares; types call nothing. */
function namesIn(node: ts.Statement): string[] {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.flatMap(({ name }) => boundIn(name))
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node))
    return node.name === undefined ? [] : [node.name.text]
  return []
}

function boundIn(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((one) => (ts.isBindingElement(one) ? boundIn(one.name) : []))
}

function importsIn(file: string, node: ts.Statement): (readonly [name: string, from: Place])[] {
  if (!ts.isImportDeclaration(node) || node.importClause?.isTypeOnly || !ts.isStringLiteral(node.moduleSpecifier))
    return []
  const bound = node.importClause?.namedBindings
  const from = pathFrom(file, node.moduleSpecifier.text)
  if (bound === undefined || !ts.isNamedImports(bound)) return []
  return bound.elements.flatMap(({ name, propertyName, isTypeOnly }) =>
    isTypeOnly ? [] : [[name.text, { file: from, name: (propertyName ?? name).text }] as const],
  )
}

function pathFrom(file: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  return normalize(join(dirname(file), specifier)).replaceAll('\\', '/')
}

/** Values that a statement uses, those of what it imports when it runs among them. */
function usedIn(file: string, node: ts.Node): Place[] {
  const used = new Set<string>()
  const members = new Set<string>()
  const loaded: string[] = []
  const walk = (one: ts.Node): void => {
    if (ts.isTypeNode(one)) return
    if (ts.isIdentifier(one)) (isMember(one) ? members : used).add(one.text)
    loaded.push(...loadedBy(file, one))
    ts.forEachChild(one, walk)
  }
  walk(node)
  const all = [...used, ...members]
  const later = loaded.filter((from) => SHARED.test(from)).flatMap((from) => all.map((name) => ({ file: from, name })))
  return [...[...used].map((name) => ({ file, name })), ...later]
}

/** The file that a call of `import()` loads. */
function loadedBy(file: string, node: ts.Node): string[] {
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return []
  const [from] = node.arguments
  return from !== undefined && ts.isStringLiteral(from) ? [pathFrom(file, from.text)] : []
}

/** The name of a member is no use of what is called like it. */
function isMember(node: ts.Identifier): boolean {
  const { parent } = node
  return (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) && parent.name === node
}

function apartOf(name: EndpointName): Pick<CalledBy, 'apart'> {
  const { access, section, servedWith }: Endpoint = api[name]
  if (section === 'Pages') return { apart: 'page' }
  if (servedWith !== undefined) return { apart: 'callback' }
  return access.kind === 'token' && access.at === 'body' ? { apart: 'callback' } : {}
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

/** The endpoints, each with who may call it and what it costs. */
export function endpointTable(): string {
  const endpoints = endpointNames.map((name): Endpoint => api[name])
  const lines = endpoints.map(
    (endpoint) =>
      `| ${endpoint.method} | \`${templatePath(endpoint.path)}\` | ${who(endpoint)} | ${price(endpoint)} | ${endpoint.summary} |`,
  )
  return ['| Method | Path | Who | Price | What |', '|---|---|---|---|---|', ...lines].join('\n')
}

function who({ access }: Endpoint): string {
  const kind = access.kind.replaceAll('_', ' ')
  return 'role' in access && access.role ? `${kind} (${access.role})` : kind
}

function price({ access }: Endpoint): string {
  if (!('price' in access)) return 'free'
  return access.price === 'varies' ? 'varies' : formatPrice(access.price)
}
