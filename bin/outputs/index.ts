// Writes commands/outputs.ts: what each command prints under --json, from the types of what it returns.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import type { heldData } from '../../src/cli/session.ts'
import { commandFiles } from '../command-index.ts'
import { contractOf } from './contract.ts'
import { type JsonNode, ownDefinitions, schemaOf } from './types.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const place = fileURLToPath(new URL('../../commands/outputs.ts', import.meta.url))

/** Read by the compiler: what each endpoint answers. */
export type Answers = { readonly [K in keyof Api]: WireAnswer<Api[K]> }

/** Read by the compiler: what is printed under --dry-run. */
export type Held = ReturnType<typeof heldData>

/** Text of commands/outputs.ts. */
export async function outputsText(): Promise<string> {
  const files = await commandFiles()
  const program = programOf([fileURLToPath(import.meta.url), ...files.values()])
  const checker = program.getTypeChecker()
  const answers = typeNamed(program, 'Answers')
  const { definitions: declared, precise } = contractOf((name) => {
    const member = answers.getProperty(name)
    const type = member && checker.getTypeOfSymbol(member)
    return type === undefined || type.flags & ts.TypeFlags.Never ? undefined : schemaOf(checker, [type])
  })
  const definitions = { ...declared, ...ownDefinitions }
  const printed = (data: readonly ts.Type[]) => precise(schemaOf(checker, data))
  const commands = [...files].map(([name, file]) => {
    const { types, words } = dataOf(program, file)
    return [name, described(printed(types), words)] as const
  })
  const dryRun = printed([typeNamed(program, 'Held')])
  return `// Written by \`npm run commands\` from the types of what commands return; a test fails when it is stale.

/** Shapes that several of them share, by the name that \`$ref\` gives them: a name, a tab and a JSON Schema a line. */
export const definitions = \`
${linesOf(used(definitions, [...commands, dryRun]))}
\`

/** What each command prints under --json, one line of a stream at a time: a name, a tab and a JSON Schema a line. */
export const outputs = \`
${linesOf(Object.fromEntries(commands.toSorted(([one], [other]) => (one < other ? -1 : 1))))}
\`

/** What a command prints instead under --dry-run. */
export const heldBack = \`
${linesOf({ 'dry run': dryRun })}
\`
`
}

/** As they stand between backticks. */
function linesOf(nodes: Readonly<Record<string, JsonNode>>): string {
  return Object.entries(nodes)
    .map(([name, node]) => `${name}\t${JSON.stringify(node, withoutNoise)}`)
    .join('\n')
    .replaceAll(/[\\`]|\$(?=\{)/g, (found) => `\\${found}`)
}

/** Every integer is one that JSON carries. */
function withoutNoise(keyword: string, value: unknown): unknown {
  const isNoise = keyword === 'minimum' || keyword === 'maximum'
  return isNoise && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER ? undefined : value
}

function programOf(files: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, { noEmit: true })
  return ts.createProgram({ rootNames: files, options })
}

function moduleOf(program: ts.Program, file: string): ts.Symbol {
  const source = program.getSourceFile(file)
  const symbol = source && program.getTypeChecker().getSymbolAtLocation(source)
  if (symbol === undefined) throw new Error(`${file} is no module`)
  return symbol
}

function typeNamed(program: ts.Program, name: string): ts.Type {
  const checker = program.getTypeChecker()
  const found = checker
    .getExportsOfModule(moduleOf(program, fileURLToPath(import.meta.url)))
    .find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no type ${name}`)
  return checker.getDeclaredTypeOfSymbol(found)
}

type Data = { readonly types: readonly ts.Type[]; readonly words: string }

/** The types of what the `run` of a command returns as it is written, whatever less its view takes, and what is said of it. */
function dataOf(program: ts.Program, file: string): Data {
  const checker = program.getTypeChecker()
  const command = checker.getExportsOfModule(moduleOf(program, file)).find(({ name }) => name === 'command')
  const declared = command?.valueDeclaration
  const call = declared && ts.isVariableDeclaration(declared) ? declared.initializer : undefined
  const [literal] = call && ts.isCallExpression(call) ? call.arguments : []
  const run =
    literal && ts.isObjectLiteralExpression(literal)
      ? literal.properties.find(({ name }) => name?.getText() === 'run')
      : undefined
  const [signature] = run ? checker.getTypeAtLocation(run).getCallSignatures() : []
  if (signature === undefined) throw new Error(`${file} declares no command`)
  const returned = signature.getReturnType()
  const types = (returned.isUnion() ? returned.types : [returned]).map((type) => resultOf(checker, type))
  return { types, words: run?.name === undefined ? '' : wordsOn(checker, run.name) }
}

/** Its comment for readers of the interface. */
function wordsOn(checker: ts.TypeChecker, name: ts.Node): string {
  const said = checker.getSymbolAtLocation(name)?.getDocumentationComment(checker)
  return ts.displayPartsToString(said).replace(/\s+/g, ' ').trim()
}

function described(node: JsonNode, words: string): JsonNode {
  return words === '' ? node : { description: words, ...node }
}

/** What a promise comes to, or each item of a stream. */
function resultOf(checker: ts.TypeChecker, type: ts.Type): ts.Type {
  const isStream = /^Async(Generator|Iterable)/.test(type.symbol?.name ?? '')
  const [item] = isStream ? checker.getTypeArguments(type as ts.TypeReference) : [] // every stream is one
  return item ?? checker.getAwaitedType(type) ?? type
}

/** The definitions that are referred to, and those that these refer to. */
function used(definitions: Readonly<Record<string, JsonNode>>, from: unknown): Readonly<Record<string, JsonNode>> {
  const found = new Set<string>()
  const look = (node: unknown): void => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      look(definitions[name] ?? {})
    }
  }
  look(from)
  return Object.fromEntries([...found].toSorted().map((name) => [name, definitions[name] ?? {}]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(place, await outputsText())
