import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Public key from a 65-byte signature; undefined if invalid. */
export type RecoverKey = (compact: Uint8Array, parity: 0 | 1, digest: Uint8Array) => Uint8Array | undefined

/** The native add-on of `secp256k1`. It is loaded directly, because the package silently falls back to slow code. */
type Addon = { readonly Secp256k1: new () => Curve }
type Curve = {
  /** @returns 0 on success */
  ecdsaRecover(key: Uint8Array, compact: Uint8Array, parity: number, digest: Uint8Array): number
}

const KEY_BYTES = 65
const COMPACT_BYTES = 64
const DIGEST_BYTES = 32
/** Linux builds differ by C library. A build for another C library does not load. */
const kinds = process.platform === 'linux' ? ['.glibc', '.musl'] : ['']

/** Loads the native add-on; undefined if none loads on this platform. */
export function openNativeRecovery(): RecoverKey | undefined {
  const require = createRequire(import.meta.url)
  for (const file of files(require)) {
    try {
      const { Secp256k1 } = require(file) as Addon
      return recoverBy(new Secp256k1())
    } catch {
      // wrong C library, or the file cannot be unpacked: try the next file, or else use WebAssembly
    }
  }
  return undefined
}

/** Wraps the add-on. Checks lengths first, because the add-on reads past short buffers. */
function recoverBy(curve: Curve): RecoverKey {
  return (compact, parity, digest) => {
    if (!holds(compact, COMPACT_BYTES) || !holds(digest, DIGEST_BYTES) || (parity !== 0 && parity !== 1))
      return undefined
    const key = new Uint8Array(KEY_BYTES)
    return curve.ecdsaRecover(key, compact, parity, digest) === 0 ? key : undefined
  }
}

function holds(bytes: Uint8Array, length: number): boolean {
  return bytes instanceof Uint8Array && bytes.length === length
}

/** Possible paths of the add-on: in the bundle's folder, or else in the package. */
function files(require: NodeJS.Require): string[] {
  const platform = `${process.platform}-${process.arch}`
  const beside = kinds.map((kind) => fileURLToPath(new URL(`./secp256k1-${platform}${kind}.node`, import.meta.url)))
  return [...beside, ...inPackage(require, platform)].filter((file) => existsSync(file))
}

function inPackage({ resolve }: NodeJS.Require, platform: string): string[] {
  try {
    const folder = join(dirname(resolve('secp256k1/package.json')), 'prebuilds', platform)
    return kinds.map((kind) => join(folder, `secp256k1${kind}.node`))
  } catch {
    return [] // a bundle has no packages
  }
}
