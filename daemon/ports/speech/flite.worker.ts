// A worker thread of `speech.ts`.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leftoverPrefix } from '../program/leftovers.ts'
import { serveTasks } from '../thread-side.ts'
import { joinedWaves } from './wav.ts'

declare global {
  // Node's types refer to these but do not declare them.
  namespace WebAssembly {
    const Instance: new (module: Module, imports: object) => object
    function compile(bytes: Uint8Array): Promise<Module>
  }
}

/** Size limit of all waves: 5,000 spoken digits in the slowest voice. */
const MAX_WAVES_BYTES = 48 * 1024 * 1024
/** Kind of its folders. The sweep of recordings removes those of a killed daemon. */
const KIND = 'audio'

// Node warns that its WASI is experimental.
process.removeAllListeners('warning')
const { WASI } = process.getBuiltinModule('node:wasi')

let module: Promise<WebAssembly.Module> | undefined

async function speak(file: string, voice: string, parts: readonly string[]): Promise<Uint8Array> {
  module ??= readFile(file).then(WebAssembly.compile)
  const synthesizer = await module
  const folder = mkdtempSync(join(tmpdir(), leftoverPrefix(KIND)))
  try {
    return joinedWaves(
      parts.map((text) => waveOf(synthesizer, folder, ['-voice', voice, '-t', text])),
      MAX_WAVES_BYTES,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs the synthesizer once, with its own memory. It sees no files but those of the folder. */
function waveOf(synthesizer: WebAssembly.Module, folder: string, words: readonly string[]): Buffer {
  const log = openSync(join(folder, 'log'), 'w')
  try {
    const args = ['flite', ...words, '-o', '/wave']
    const wasi = new WASI({ version: 'preview1', args, preopens: { '/': folder }, stdout: log, stderr: log })
    const code = wasi.start(new WebAssembly.Instance(synthesizer, wasi.getImportObject()))
    if (code !== 0) throw new Error(`flite exited with ${code}: ${readFileSync(join(folder, 'log'), 'utf8')}`)
  } finally {
    closeSync(log)
  }
  return readFileSync(join(folder, 'wave'))
}

serveTasks(({ args: [file, voice, parts] }) =>
  speak(String(file), String(voice), Array.isArray(parts) ? parts.map(String) : []),
)
