import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { type Foreign, OUTSIDE, load as outside } from '../fixtures/outside/load.ts'

/** Where the contracts lie, from the top of the repository. */
const CONTRACTS = 'daemon/ports/chain/evm/contracts'

const root = new URL('../', import.meta.url)
const { resolve } = createRequire(`${OUTSIDE}/`)

/**
 * What makes two runs on two machines give the same bytes: no hash of the sources in the code, and names of sources
 * without a folder of the machine. The libraries need `cancun`.
 */
const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}

type AbiItem = { readonly type: string; readonly name?: string }
type CompilerNote = { readonly severity: string; readonly formattedMessage: string }
type Compiled = { readonly abi: readonly AbiItem[]; readonly evm: { readonly bytecode: { readonly object: string } } }
type CompilerAnswer = {
  readonly errors?: readonly CompilerNote[]
  readonly contracts?: Record<string, Record<string, Compiled>>
}

/** A module that `npm run contracts` writes, and the folder of sources that it holds. */
type ArtifactModule = { readonly file: string; readonly folder: string; readonly name: string; readonly says: string }

const modules: readonly ArtifactModule[] = [
  {
    file: `${CONTRACTS}/artifacts.testkit.ts`,
    folder: CONTRACTS,
    name: 'contracts',
    says: 'The contracts of this folder: interface and creation code.',
  },
  {
    file: `${CONTRACTS}/wallets/artifacts.testkit.ts`,
    folder: `${CONTRACTS}/wallets`,
    name: 'walletContracts',
    says: 'Wallets that are contracts, honest and hostile: interface and creation code.',
  },
]

/**
 * Compiles the contracts. @returns the modules that hold them, by path from the top of the repository.
 * @throws Error with what the compiler says; a warning counts.
 */
export async function compiledContracts(): Promise<ReadonlyMap<string, string>> {
  const { default: solc } = await outside('solc')
  return new Map(
    modules.flatMap((module) => {
      const compiled = compile(solc, module.folder)
      const whole = [module.file, textOf(module, compiled)] as const
      return module.folder === CONTRACTS ? [[`${CONTRACTS}/artifacts.ts`, codeText(compiled)], whole] : [whole]
    }),
  )
}

function compile(solc: Foreign, folder: string): readonly [string, Compiled][] {
  const names = readdirSync(new URL(folder, root)).filter((name) => name.endsWith('.sol'))
  const sources = names.sort().map((name) => [name, { content: read(`${folder}/${name}`) }])
  const input = { language: 'Solidity', sources: Object.fromEntries(sources), settings }
  const answer: CompilerAnswer = JSON.parse(solc.compile(JSON.stringify(input), { import: library }))
  const notes = answer.errors ?? []
  if (notes.length > 0) throw new Error(notes.map((note) => note.formattedMessage).join('\n'))
  return names
    .flatMap((name) => Object.entries(answer.contracts?.[name] ?? {}))
    .filter(([, { evm }]) => evm.bytecode.object !== '')
}

/** Sources of a package, as contracts name them. */
function library(name: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(resolve(name), 'utf8') }
  } catch {
    return { error: `${name} is not installed` }
  }
}

/** The creation code alone, which is all that the program needs of them. */
function codeText(compiled: readonly [string, Compiled][]): string {
  return [
    '// Written by `npm run contracts` from the sources beside artifacts.ts; a test fails when it is stale.',
    '',
    '/** The contracts of this folder: creation code. */',
    'export const creationCode = {',
    ...compiled.map(([contract, { evm }]) => `  ${lowerFirst(contract)}: '0x${evm.bytecode.object}',`),
    '} as const',
    '',
  ].join('\n')
}

function textOf({ file, name, says }: ArtifactModule, compiled: readonly [string, Compiled][]): string {
  const lines = compiled.flatMap(([contract, { abi, evm }]) => [
    `  ${lowerFirst(contract)}: {`,
    '    abi: [',
    ...abi.map((item) => `      ${JSON.stringify(item, withoutSourceNames)},`),
    '    ],',
    `    bytecode: '0x${evm.bytecode.object}',`,
    '  },',
  ])
  return [
    `// Written by \`npm run contracts\` from the sources beside ${basename(file)}; a test fails when it is stale.`,
    '',
    `/** ${says} */`,
    `export const ${name} = {`,
    ...lines,
    '} as const',
    '',
  ].join('\n')
}

/** Names of Solidity's own types say nothing to a caller. */
function withoutSourceNames(key: string, value: unknown): unknown {
  return key === 'internalType' ? undefined : value
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}
