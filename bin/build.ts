// Bundles the program into dist/: `node bin/build.ts`.
//
// souk.js   the entry, small and old enough in its syntax for Node 20; old-node.js is its way out there
// cli.js    every command in one file, each part run only when it is used: a start reads two files, not fifty
// the rest  what a command loads by import() because it is heavy (daemon, cockpit, signing, spinner), and the workers
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Loader, type Plugin } from 'esbuild'

/** Renderer of the reference page, read by `daemon/features/discovery/reference-page.ts`. */
const REDOC = 'redoc.standalone.js'
/** Rules of accessibility, read by `daemon/features/first-party/browser/axe.ts`, and their licence. */
const AXE: Readonly<Record<string, string>> = { 'axe.min.js': 'axe.min.js', LICENSE: 'axe-core.LICENSE' }
const root = fileURLToPath(new URL('..', import.meta.url))
const MILLISECONDS_A_SECOND = 1_000
const EXECUTABLE_MODE = 0o755

/** What the package exports besides its program, by the name in dist/. */
export const libraryEntries: Readonly<Record<string, string>> = {
  'lib-client': 'bin/library/client.ts',
  'lib-provider': 'bin/library/provider.ts',
  'lib-testing': 'bin/library/testing.ts',
}

/** Loaded by import() only, and a file of its own in dist/: path of ours or package → its name there. */
const heavyPackages: Readonly<Record<string, string>> = {
  liquidjs: 'liquid',
  ora: 'ora',
  tinyld: 'tinyld',
  'viem/accounts': 'viem-accounts',
  yaml: 'yaml',
}
const HEAVY_FOLDERS = /^(daemon|src\/tui|src\/schema|src\/mcp)\//
const FROM_NODE =
  /^import (?:(?<whole>\w+)|\* as (?<star>\w+)|\{(?<names>[^}]*)\}) from ['"](?<from>node:[\w/]+)['"];?$/gm

/** Files that run in threads or processes of their own; each becomes a file in dist/ under its base name. */
function workers(): string[] {
  return ['src', 'daemon', 'commands'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.worker.ts'))
      .map((file) => join(folder, file)),
  )
}

/** Leaves heavy parts out of the bundle and gathers them as entries of the next one. */
function heavyParts(entries: Map<string, string>): Plugin {
  return {
    name: 'heavy-parts',
    setup({ onResolve }) {
      onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) => {
        const file = path.startsWith('.') ? relative(root, resolve(resolveDir, path)) : undefined
        const name = file === undefined ? heavyPackages[path] : heavyName(file)
        if (kind !== 'dynamic-import' || name === undefined) return undefined
        entries.set(name, file ?? path)
        return { path: `./${name}.js`, external: true }
      })
    },
  }
}

function heavyName(file: string): string | undefined {
  if (!HEAVY_FOLDERS.test(file)) return undefined
  const name = basename(file).replace(/\.tsx?$/, '')
  return name === 'index' ? basename(dirname(file)) : name
}

// `import { z } from 'zod'` names an object that holds the whole library, all its languages with it; a namespace
// import says the same and lets the bundler leave out what is not used: 454 kB become 85.
function lightZod(text: string): string {
  return text.replace(/^import \{ z \} from 'zod'$/m, "import * as z from 'zod'")
}

// An import of a module of Node evaluates all its lazy members: node:process 4 ms, node:fs 2, node:http 24, of a start
// that may take 30. Taken from the builtin itself, they are as lazy as Node meant them.
function lightNode(text: string): string {
  return text.replace(FROM_NODE, (line) => {
    const { whole, star, names, from } = new RegExp(FROM_NODE.source).exec(line)?.groups ?? {}
    const values = names?.split(',').filter((name) => !/^\s*(type\s|$)/.test(name))
    const bound = whole ?? star ?? `{${values?.map((name) => name.replace(' as ', ': ')).join(',')}}`
    return `const ${bound} = globalThis.process.getBuiltinModule('${from}')`
  })
}

/** The one package on every start. */
const COMMANDER = join('node_modules', 'commander')
const lighterCommander: readonly (readonly [file: string, from: string, to: string])[] = [
  // Its child processes are for a kind of subcommand that is not used here.
  [
    'command.js',
    "import childProcess from 'node:child_process';",
    "const childProcess = { spawn: (...words) => process.getBuiltinModule('node:child_process').spawn(...words) };",
  ],
  // The tables behind a Unicode property take 4 ms to build, for flags that are ASCII.
  ['option.js', '/\\p{ID_Continue}\\.\\.\\.[>\\]]$/u', '/\\w\\.\\.\\.[>\\]]$/'],
]

function lightCommander(text: string, path: string): string {
  const [, from, to] = lighterCommander.find(([file]) => basename(path) === file) ?? []
  if (from === undefined || to === undefined) return lightNode(text)
  if (!text.includes(from)) throw new Error(`${path} no longer holds ${from}: look at it again`)
  return lightNode(text.replace(from, () => to))
}

const loaders: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.tsx': 'tsx', '.js': 'js' }

/** Rewrites imports of our own files and of commander as they are read. */
function lightImports(options: { node: boolean }): Plugin {
  return {
    name: 'light-imports',
    setup({ onLoad }) {
      onLoad({ filter: /\.(tsx?|js)$/, namespace: 'file' }, ({ path }) => {
        const ours = !path.includes('node_modules')
        if (!ours && !path.includes(COMMANDER)) return undefined
        const text = lightZod(readFileSync(path, 'utf8'))
        const light = ours ? lightNode(text) : lightCommander(text, path)
        return { contents: options.node ? light : text, loader: loaders[extname(path)] ?? 'js' }
      })
    },
  }
}

// Ink asks for its development tools in a try; bundled, that becomes an import that cannot be tried.
const noDevtools: Plugin = {
  name: 'no-devtools',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }))
    onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default { connectToDevTools() {} }' }))
  },
}

/** What the entry loads, it loads from beside itself: inlined, the imports of each would run on every start. */
const besideEntry: Readonly<Record<string, string>> = {
  '../commands/start.ts': './cli.js',
  '../src/cli/run/old-node.ts': './old-node.js',
  '../daemon/index.ts': './daemon.js',
}
const beside: Plugin = {
  name: 'beside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\./ }, ({ path }) => {
      const file = besideEntry[path]
      return file === undefined ? undefined : { path: file, external: true }
    }),
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  define: {
    'process.env.NODE_ENV': '"production"',
    'process.env.DEV': '"false"',
    SOUK_COMMIT: JSON.stringify(commitOf(root) ?? null),
  },
} as const satisfies BuildOptions
// Bundled CommonJS packages call require for the modules of Node.
const banner = {
  js: "import{createRequire as soukRequire}from'node:module';const require=soukRequire(import.meta.url);",
}

/** The commit that a checkout stands at, `+` behind it where files differ; undefined where it is no checkout. */
export function commitOf(folder: string): string | undefined {
  const git = (...words: string[]) => {
    const { status, stdout } = spawnSync('git', ['-C', folder, ...words], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  }
  // A copy within somebody else's checkout is not of their commit.
  if (git('rev-parse', '--show-prefix') !== '') return undefined
  const commit = git('rev-parse', '--short=12', 'HEAD')
  return commit && git('status', '--porcelain') !== '' ? `${commit}+` : commit
}

export type Bundle = {
  /** Source files of cli.js, by path from the root: what every command loads. */
  readonly commandSources: readonly string[]
  readonly files: readonly { readonly file: string; readonly bytes: number }[]
}

/** Builds the program into a folder. */
export async function bundle(outdir: string): Promise<Bundle> {
  const entry = await build({
    ...shared,
    target: 'node20',
    entryPoints: { souk: 'bin/souk.ts', 'old-node': 'src/cli/run/old-node.ts' },
    outdir,
    plugins: [beside],
  })
  const heavy = new Map([['daemon', 'daemon/index.ts']])
  const cli = await build({
    ...shared,
    target: 'node22',
    entryPoints: ['commands/start.ts'],
    outfile: join(outdir, 'cli.js'),
    plugins: [heavyParts(heavy), lightImports({ node: true })],
  })
  const parts = await build({
    ...shared,
    target: 'node22',
    entryPoints: Object.fromEntries([
      ...heavy,
      ...Object.entries(libraryEntries),
      ...workers().map((file) => [basename(file, '.ts'), file] as const),
    ]),
    outdir,
    chunkNames: 'part-[hash]',
    splitting: true,
    banner,
    plugins: [noDevtools, lightImports({ node: false })],
  })
  chmodSync(join(outdir, 'souk.js'), EXECUTABLE_MODE)
  const outputs = [entry, cli, parts].flatMap(({ metafile }) => Object.entries(metafile.outputs))
  return {
    commandSources: Object.keys(cli.metafile.inputs),
    files: outputs.map(([file, { bytes }]) => ({ file: basename(file), bytes })),
  }
}

/** Replaces dist/ as a whole, so that a build that fails, or is watched, leaves a program that works. */
async function main(): Promise<void> {
  const started = performance.now()
  const draft = join(root, 'node_modules', '.cache', `souk-build-${process.pid}`)
  try {
    const { files } = await bundle(draft)
    const { resolve } = createRequire(import.meta.url)
    copyFileSync(resolve(`redoc/bundles/${REDOC}`), join(draft, REDOC))
    for (const [file, name] of Object.entries(AXE))
      copyFileSync(join(dirname(resolve('axe-core')), file), join(draft, name))
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    renameSync(draft, join(root, 'dist'))
    const kilobytes = Math.round(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1_024)
    const seconds = ((performance.now() - started) / MILLISECONDS_A_SECOND).toFixed(1)
    console.error(`built dist/: ${files.length} files, ${kilobytes} kB, ${seconds} s`)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
