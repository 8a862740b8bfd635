// A worker thread of `flite.ts`.
import { serveTasks } from '../thread-side.ts'
import { compileFlite, runFlite } from './flite-module.ts'
import { joinedWaves } from './wav.ts'

/** Size limit of all waves: 5,000 spoken digits in the slowest voice. */
const MAX_WAVES_BYTES = 48 * 1024 * 1024

let module: Promise<WebAssembly.Module> | undefined

async function speak(file: string, voice: string, parts: readonly string[]): Promise<Uint8Array> {
  module ??= compileFlite(file)
  const synthesizer = await module
  const waves = parts.map((text) => {
    const { wave, code, said } = runFlite(synthesizer, ['-voice', voice, '-t', text, '-o', 'wave'])
    if (code !== 0) throw new Error(`flite exited with ${code}: ${said}`)
    return wave
  })
  return joinedWaves(waves, MAX_WAVES_BYTES)
}

serveTasks(({ args: [file, voice, parts] }) =>
  speak(String(file), String(voice), Array.isArray(parts) ? parts.map(String) : []),
)
