// Puts what the cockpit's first frame needs into one file. The bundler before makes a file of each group of modules that
// the same screens share, and each of the fifty costs a start more than its bytes.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { ascii } from './command-files.ts'

const LINKED = /(?:from|import)"\.\/([^"]+)"/g

type Cockpit = {
  readonly outdir: string
  /** Names of the files that others import. */
  readonly names: readonly string[]
  /** Bundles the sources into a folder, a file for each group. */
  readonly split: (folder: string) => Promise<unknown>
}

type Part = { readonly file: string; readonly bytes: number; readonly exports: readonly string[] }

/** Writes the cockpit: `open.js` with its first frame, and a file for each part that is opened later. */
export async function bundleCockpit({ outdir, names, split }: Cockpit): Promise<Part[]> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-cockpit-'))
  try {
    await split(folder)
    const first = linkedWith(folder, 'open.js')
    const build = await rolldown({
      input: Object.fromEntries(names.map((name) => [name, join(folder, `${name}.js`)])),
      platform: 'node',
      external: (id) => !id.startsWith('.') && !id.startsWith('/'),
      plugins: [ascii],
      preserveEntrySignatures: 'allow-extension',
    })
    const { output } = await build.write({
      dir: outdir,
      format: 'esm',
      minify: false, // by the plugin
      entryFileNames: '[name].js',
      chunkFileNames: 'tui-[hash].js',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ name: 'first', test: (id) => first.has(basename(id)) }],
      },
    })
    await build.close()
    return output.flatMap((one) =>
      one.type === 'chunk' ? [{ file: one.fileName, bytes: Buffer.byteLength(one.code), exports: one.exports }] : [],
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A file, and all that are loaded with it. */
function linkedWith(folder: string, file: string): ReadonlySet<string> {
  const files = new Set([file])
  for (const one of files)
    for (const [, other = ''] of readFileSync(join(folder, one), 'utf8').matchAll(LINKED)) files.add(other)
  return files
}
