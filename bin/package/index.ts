// Makes what is handed out, in release/: `npm run package [-- FOLDER]`. Each file gets its name when it is whole.
//
// souk-<version>-<platform>  the program in one file, Node inside
// souk-<version>.tgz         what `npm install` takes
// SHA256SUMS                 of both, as `sha256sum --check` reads it
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { commitOf } from '../build.ts'
import { packBinary, targets } from './binary.ts'
import { readManifest } from './manifest.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const BYTES_A_MEGABYTE = 1_000_000

async function main(out: string): Promise<void> {
  const { version } = readManifest()
  mkdirSync(out, { recursive: true })
  // Apart from any node_modules: a program packed below one does not find its native parts.
  const scratch = mkdtempSync(join(tmpdir(), 'souk-package-'))
  const growing = mkdtempSync(join(out, '.growing-'))
  try {
    const own = `${process.platform}-${process.arch}`
    const binary = `souk-${version}-${own}${process.platform === 'win32' ? '.exe' : ''}`
    // Its scripts build dist/, and put the manifest of an installed copy in place for the while.
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', growing], {
      cwd: root,
      encoding: 'utf8',
    })
    packBinary({ root, scratch, file: join(growing, binary) })
    const files = [binary, packed.trim().split('\n').at(-1) ?? '']
    const sums = await Promise.all(files.map(async (file) => `${await sha256Of(join(growing, file))}  ${file}\n`))
    writeFileSync(join(growing, 'SHA256SUMS'), sums.join(''))
    for (const file of [...files, 'SHA256SUMS']) renameSync(join(growing, file), join(out, file))
    console.log(`souk ${version}, ${commitOf(root) ?? 'no commit'}`)
    for (const file of files)
      console.log(`  ${file}  ${Math.round(statSync(join(out, file)).size / BYTES_A_MEGABYTE)} MB`)
    console.log(`  SHA256SUMS  (cd ${out} && sha256sum --check SHA256SUMS)`)
    const others = Object.keys(targets).filter((platform) => platform !== own)
    console.log(`other platforms: run this on one of them (${others.join(', ')}); its Node comes with npm ci`)
    console.log('macOS: no Node is packaged for it; npm install the .tgz there, on a Node of 22.13 or newer')
  } finally {
    for (const folder of [scratch, growing]) rmSync(folder, { recursive: true, force: true })
  }
}

async function sha256Of(file: string): Promise<string> {
  const sum = createHash('sha256')
  await pipeline(createReadStream(file), sum)
  return sum.digest('hex')
}

await main(resolve(process.argv[2] ?? join(root, 'release')))
