// Bundles the command line: a file that nearly every command needs, one with the schema library, one with what several
// commands share, and one a command. A start reads what it runs, and no more.
//
// It takes another bundler than the rest, since this one can be told which modules share a file, and still runs each
// of them only when it is first imported.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { transform } from 'esbuild'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { lightFront } from './light-imports.ts'

/** What nearly every command needs, with all that it imports. */
const EVERYDAY = [
  'commands/start.ts',
  'src/cli/command.ts',
  'src/cli/output.ts',
  'src/cli/params.ts',
  'src/cli/run/execute.ts',
  'src/client/answers.ts',
  'src/client/check.ts',
  'src/cli/paging.ts',
  'src/cli/nouns/lists.ts',
  'src/nouns/services.ts',
]
const SCHEMA_LIBRARY = /node_modules\/zod\//

export type CommandFile = {
  readonly file: string
  readonly bytes: number
  /** Files that are loaded with it. */
  readonly imports: readonly string[]
  /** By path from the root. */
  readonly sources: readonly string[]
}

type Commands = {
  readonly root: string
  readonly outdir: string
  readonly define: Readonly<Record<string, string>>
  /** Name of the file that a heavy part becomes; undefined for what is no heavy part. */
  readonly heavyName: (imported: string) => string | undefined
}

type Bundled = {
  readonly files: readonly CommandFile[]
  /** Heavy parts that are imported, by the name of their file. */
  readonly heavy: readonly (readonly [name: string, imported: string])[]
}

/** Writes `cli.js` and the files beside it. */
export async function bundleCommands({ root, outdir, define, heavyName }: Commands): Promise<Bundled> {
  const heavy = new Map<string, string>()
  const build = await rolldown({
    cwd: root,
    input: { cli: `${root}commands/start.ts` },
    platform: 'node',
    plugins: [heavyParts({ root, heavyName, heavy }), light, ascii],
    transform: { define: { ...define } },
    checks: { ineffectiveDynamicImport: false },
    preserveEntrySignatures: 'allow-extension',
  })
  const places = placesOf(root)
  const { output } = await build.write({
    dir: outdir,
    format: 'esm',
    minify: false, // below
    // A module runs when it is first imported, whatever file it lies in.
    strictExecutionOrder: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'cli-[name].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: (id, graph) => (places.isEveryday(graph, id) ? 'everyday' : null), debugName: 'everyday', priority: 2 },
        // Apart from what else is shared: whoever loads that is not to load the schema library with it.
        { name: (id, graph) => (places.usesSchemas(graph, id) ? 'schemas' : null), debugName: 'schemas', ...shared },
        { name: (id, graph) => (places.isShared(graph, id) ? 'shared' : null), debugName: 'shared', ...shared },
      ],
    },
  })
  await build.close()
  const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk')
  return { heavy: [...heavy], files: chunks.map((chunk) => fileOf(root, chunk)) }
}

function fileOf(root: string, { fileName, code, imports, moduleIds }: OutputChunk): CommandFile {
  const sources = moduleIds.map((id) => relative(root, id))
  return { file: fileName, bytes: Buffer.byteLength(code), imports, sources }
}

const shared = { minShareCount: 2 }

type Graph = { getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null }

/** What decides on the file that a module is put into. */
function placesOf(root: string) {
  const everyday = new Set<string>()
  const schemas = new Map<string, boolean>()
  const usesSchemas = (graph: Graph, id: string): boolean => {
    const known = schemas.get(id)
    if (known !== undefined) return known
    schemas.set(id, false) // packages import each other in rings
    const uses = SCHEMA_LIBRARY.test(id) || importsOf(graph, id).some((one) => usesSchemas(graph, one))
    schemas.set(id, uses)
    return uses
  }
  const isEveryday = (graph: Graph, id: string): boolean => {
    if (everyday.size === 0) for (const file of EVERYDAY) gather(graph, root + file, everyday)
    return everyday.has(id)
  }
  // A command that another one imports keeps its file: in the shared one, it would bring along all the rest of that.
  const isShared = (graph: Graph, id: string): boolean => !id.startsWith(`${root}commands/`) && !usesSchemas(graph, id)
  return { isEveryday, isShared, usesSchemas }
}

function gather(graph: Graph, id: string, into: Set<string>): void {
  if (into.has(id)) return
  into.add(id)
  for (const one of importsOf(graph, id)) gather(graph, one, into)
}

function importsOf(graph: Graph, id: string): readonly string[] {
  return graph.getModuleInfo(id)?.importedIds ?? []
}

/** Leaves heavy parts out, and gathers them. */
function heavyParts({ root, heavyName, heavy }: Pick<Commands, 'root' | 'heavyName'> & { heavy: Map<string, string> }) {
  return {
    name: 'heavy-parts',
    resolveId: {
      order: 'pre',
      async handler(source, importer, { kind }) {
        if (kind !== 'dynamic-import') return undefined
        const file = source.startsWith('.') ? await this.resolve(source, importer, { skipSelf: true }) : null
        const imported = file ? relative(root, file.id) : source
        const name = heavyName(imported)
        if (name === undefined) return undefined
        heavy.set(name, imported)
        return { id: `./${name}.js`, external: true }
      },
    },
  } satisfies Plugin
}

const light: Plugin = {
  name: 'light-imports',
  load(id) {
    if (!/\.(ts|js)$/.test(id)) return undefined
    return { code: lightFront(id, readFileSync(id, 'utf8')), moduleType: id.endsWith('.ts') ? 'ts' : 'js' }
  },
}

/** Minifies too. One letter beyond ASCII makes V8 keep two bytes of each in the file, and takes longer to read. */
export const ascii: Plugin = {
  name: 'ascii',
  async renderChunk(code) {
    const { code: plain } = await transform(code, { minify: true, charset: 'ascii', format: 'esm', target: 'node22' })
    return { code: plain }
  },
}
