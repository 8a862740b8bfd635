// What an installed copy is told about itself: `node bin/package/manifest.ts slim` before a pack, `whole` after it.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifestFile = join(root, 'package.json')
/** The manifest of the checkout, while the slim one stands in its place. */
const keptFile = join(root, 'node_modules', '.cache', 'souk-package.json')
const INDENT = 2

/** Members that mean something where the program is installed; what it is made from, dist/ holds already. */
const INSTALLED = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'bin',
  'exports',
  'files',
  'engines',
  'optionalDependencies',
] as const

/** The rest that is optional is for who works on the program: an installed one finds a chain's node where it is. */
const NODE = 'node-'

/** @returns the manifest of the program as it is installed: bundled, so that nothing but a Node comes with it. */
export function slimManifest(whole: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const slim = Object.fromEntries(INSTALLED.flatMap((name) => (name in whole ? [[name, whole[name]]] : [])))
  const optional = Object.entries(slim['optionalDependencies'] ?? {}).filter(([name]) => name.startsWith(NODE))
  return { ...slim, optionalDependencies: Object.fromEntries(optional) }
}

export function readManifest(): Record<string, unknown> & { readonly version: string } {
  return JSON.parse(readFileSync(existsSync(keptFile) ? keptFile : manifestFile, 'utf8'))
}

function slim(): void {
  mkdirSync(dirname(keptFile), { recursive: true })
  // A pack that was killed left the slim one in its place: the kept one is the checkout's.
  if (!existsSync(keptFile)) copyFileSync(manifestFile, keptFile)
  writeFileSync(manifestFile, `${JSON.stringify(slimManifest(readManifest()), null, INDENT)}\n`)
}

function whole(): void {
  if (!existsSync(keptFile)) return
  copyFileSync(keptFile, `${manifestFile}.next`)
  renameSync(`${manifestFile}.next`, manifestFile)
  rmSync(keptFile)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const acts: Readonly<Record<string, () => void>> = { slim, whole }
  const act = acts[process.argv[2] ?? '']
  if (!act) throw new Error(`say one of ${Object.keys(acts).join(', ')}`)
  act()
}
