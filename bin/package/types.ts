// Writes the types of the library into dist/: `node bin/package/types.ts`.
//
// Those of our own files are taken from them as they are; those of the contract, which are made of schemas there, are
// written from the description instead, so that nothing but TypeScript is needed to read them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { load as outside } from '../../fixtures/outside/load.ts'
import { libraryEntries } from '../build.ts'
import { startMarket } from '../library/testing.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CALLS = 'bin/library/calls.ts'
const RELATIVE_IMPORT = /(from |import\()(['"])(\.[^'"]+)\.ts\2/g

/** Says of every call what it takes and answers, by the operations of the description. */
const callTypes = `
type JsonOf<T> = T extends { content: { 'application/json': infer B } } ? B : never
type Success = 200 | 201 | 202
type Answers<K extends keyof operations> = operations[K]['responses'] extends infer R ? R[Extract<keyof R, Success>] : never
/** Name of an endpoint that answers JSON, its \`operationId\` in the description. */
export type CallName = { [K in keyof operations]: [JsonOf<Answers<K>>] extends [never] ? never : K }[keyof operations]
type Given<T, N extends string> = [Exclude<T, undefined>] extends [never] ? {} : undefined extends T ? { readonly [K in N]?: Exclude<T, undefined> } : { readonly [K in N]: T }
type BodyOf<K extends keyof operations> = operations[K] extends { requestBody: infer B } ? JsonOf<B> : operations[K] extends { requestBody?: infer B } ? JsonOf<Exclude<B, undefined>> | undefined : never
/** A file that is sent: where it lies, or what it holds. */
export type SentFile = { readonly path: string }
type FileOf<K extends keyof operations> = operations[K] extends { requestBody?: infer B } ? Exclude<B, undefined> extends { content: { 'multipart/form-data': unknown } } ? { readonly file?: SentFile } : {} : {}
/** What is asked of it: \`params\` of the path, \`query\`, \`body\`, \`file\`, \`headers\`. */
export type AskedOf<K extends CallName> =
  & Given<operations[K]['parameters']['path'], 'params'>
  & Given<operations[K]['parameters']['query'], 'query'>
  & Given<BodyOf<K>, 'body'>
  & FileOf<K>
  & { readonly headers?: Readonly<Record<string, string>>; readonly timeoutMs?: number; readonly signal?: AbortSignal }
export type AnswerOf<K extends CallName> = JsonOf<Answers<K>>
`

async function main(): Promise<void> {
  const written = new Set<string>()
  const wanted = Object.values(libraryEntries)
  for (let file = wanted.pop(); file !== undefined; file = wanted.pop()) {
    if (written.has(file)) continue
    written.add(file)
    const text = file === CALLS ? await describedCalls() : declarationOf(file)
    wanted.push(...importedBy(text, file))
    write(file, text.replace(RELATIVE_IMPORT, '$1$2$3.js$2'))
  }
}

async function describedCalls(): Promise<string> {
  const { default: openapiTS, astToString } = await outside('openapi-typescript')
  const market = await startMarket({ seed: 'none' })
  try {
    return `${astToString(await openapiTS(new URL(`${market.url}/openapi.json`)))}${callTypes}`
  } finally {
    await market.close()
  }
}

/** From the file alone where it writes its types out; else from a program of it and what it imports. */
function declarationOf(file: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, { fileName: file, reportDiagnostics: true })
  return diagnostics.length === 0 ? outputText : inferredDeclaration(file)
}

function inferredDeclaration(file: string): string {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const name = join(root, file)
  const program = ts.createProgram([name], { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true })
  let text = ''
  const take = (_file: string, written: string) => {
    text = written
  }
  program.emit(program.getSourceFile(name), take, undefined, true)
  if (text === '') throw new Error(`${file} declares nothing`)
  return text
}

function importedBy(text: string, file: string): string[] {
  return [...text.matchAll(RELATIVE_IMPORT)].map(([, , , path = '']) =>
    relative(root, resolve(root, dirname(file), `${path}.ts`)),
  )
}

function write(file: string, text: string): void {
  const to = join(root, 'dist', 'types', file.replace(/\.ts$/, '.d.ts'))
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
