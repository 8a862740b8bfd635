import { readFile } from 'node:fs/promises'

declare global {
  // Node's types refer to these but do not declare them.
  namespace WebAssembly {
    type Held = { readonly buffer: ArrayBuffer }
    type Started = { readonly exports: { readonly [name: string]: unknown } }
    const Memory: new (size: { readonly initial: number }) => Held
    const Instance: new (module: Module, imports: object) => Started
    function compile(bytes: Uint8Array): Promise<Module>
  }
}

/** Size limits of the WAV output, and of the program's messages. */
const MAX_WAVE_BYTES = 24 * 1024 * 1024
const MAX_SAID_CHARS = 1_000
const FIRST_BYTES = 256 * 1024

/* Constants of WASI preview 1. */
const FOLDER = 3
const WAVE = 4
const OK = 0
const BAD_DESCRIPTOR = 8
const NO_SPACE = 51
const NOT_SEEKABLE = 70
const DIRECTORY_TYPE = 3
const FILE_TYPE = 4
const STREAM_TYPE = 2
const types: Readonly<Record<number, number>> = { [FOLDER]: DIRECTORY_TYPE, [WAVE]: FILE_TYPE }
const EVERY_RIGHT = 0xffff_ffff_ffff_ffffn
const FDSTAT_BYTES = 24
const ROOT = '/'

/** Thrown by the program's exit; code 0 is success. */
class Exit extends Error {
  override readonly name = 'Exit'
  readonly code: number

  constructor(code: number) {
    super(`exited with ${code}`)
    this.code = code
  }
}

export type Ran = { readonly wave: Buffer; readonly said: string; readonly code: number }

/** Compiles the synthesizer for repeated runs. */
export async function compileFlite(file: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(file))
}

/**
 * Runs the synthesizer once, with its own memory and one output file in memory. It has no access to files, clock or
 * randomness.
 */
export function runFlite(module: WebAssembly.Module, words: readonly string[]): Ran {
  const wave = openWave()
  let said = ''
  // Placeholder until the module's own memory is known.
  let memory = new WebAssembly.Memory({ initial: 0 })
  const system = systemOf({
    words: ['flite', ...words].map((word) => Buffer.from(`${word}\0`)),
    bytes: () => Buffer.from(memory.buffer),
    wave,
    say: (text) => {
      said = (said + text).slice(0, MAX_SAID_CHARS)
    },
  })
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system })
  const { memory: own, _start: start } = exports
  if (!(own instanceof WebAssembly.Memory) || typeof start !== 'function') throw new TypeError('not a WASI program')
  memory = own
  try {
    start()
    return { wave: wave.bytes(), said, code: OK }
  } catch (error) {
    if (error instanceof Exit) return { wave: wave.bytes(), said, code: error.code }
    throw error
  }
}

/** A seekable file in memory with a size limit. */
function openWave() {
  let kept = Buffer.alloc(FIRST_BYTES)
  let at = 0
  let end = 0
  return {
    bytes: () => kept.subarray(0, end),
    seek: (to: number, whence: number): number => {
      const from = [0, at, end][whence] ?? 0
      at = Math.min(Math.max(0, from + to), MAX_WAVE_BYTES)
      return at
    },
    /** @returns false if the file would become too large */
    write: (part: Buffer): boolean => {
      if (at + part.length > MAX_WAVE_BYTES) return false
      while (at + part.length > kept.length) kept = Buffer.concat([kept, Buffer.alloc(kept.length)])
      kept.set(part, at)
      at += part.length
      end = Math.max(end, at)
      return true
    },
  }
}

type Around = {
  /** Program name and arguments, zero-terminated. */
  readonly words: readonly Buffer[]
  readonly bytes: () => Buffer
  readonly wave: ReturnType<typeof openWave>
  readonly say: (text: string) => void
}

/** Exactly the functions that the module imports. If one is missing, the module cannot be instantiated. */
function systemOf(around: Around) {
  const { words, bytes } = around
  return {
    args_sizes_get: (count: number, size: number) => {
      bytes().writeUInt32LE(words.length, count)
      bytes().writeUInt32LE(Buffer.concat(words).length, size)
      return OK
    },
    args_get: (pointers: number, text: number) => {
      let at = text
      for (const [i, word] of words.entries()) {
        bytes().writeUInt32LE(at, pointers + 4 * i)
        bytes().set(word, at)
        at += word.length
      }
      return OK
    },
    // A fixed clock makes the output deterministic.
    clock_time_get: (_id: number, _precision: bigint, to: number) => {
      bytes().writeBigUInt64LE(0n, to)
      return OK
    },
    ...filesOf(around),
    proc_exit: (code: number) => {
      throw new Exit(code)
    },
  }
}

type Four<T> = [T, T, T, T]

function filesOf({ bytes, wave, say }: Around) {
  return {
    fd_prestat_get: (fd: number, to: number) => {
      if (fd !== FOLDER) return BAD_DESCRIPTOR
      bytes().writeUInt32LE(0, to)
      bytes().writeUInt32LE(ROOT.length, to + 4)
      return OK
    },
    fd_prestat_dir_name: (_fd: number, to: number) => {
      bytes().write(ROOT, to)
      return OK
    },
    // Opening any path opens the one output file.
    path_open: (...asked: readonly unknown[]) => {
      bytes().writeUInt32LE(WAVE, Number(asked.at(-1)))
      return OK
    },
    fd_fdstat_get: (fd: number, to: number) => {
      if (fd > WAVE) return BAD_DESCRIPTOR
      bytes().fill(0, to, to + FDSTAT_BYTES)
      bytes().writeUInt8(types[fd] ?? STREAM_TYPE, to)
      bytes().writeBigUInt64LE(EVERY_RIGHT, to + 8)
      bytes().writeBigUInt64LE(EVERY_RIGHT, to + 16)
      return OK
    },
    fd_fdstat_set_flags: () => OK,
    fd_close: () => OK,
    fd_read: (...[, , , to]: Four<number>) => {
      bytes().writeUInt32LE(0, to)
      return OK
    },
    fd_seek: (...[fd, offset, whence, to]: [number, bigint, number, number]) => {
      if (fd !== WAVE) return NOT_SEEKABLE
      bytes().writeBigUInt64LE(BigInt(wave.seek(Number(offset), whence)), to)
      return OK
    },
    fd_write: (...[fd, vectors, count, to]: Four<number>) => {
      let written = 0
      for (let i = 0; i < count; i += 1) {
        const at = vectors + 8 * i
        const from = bytes().readUInt32LE(at)
        const part = bytes().subarray(from, from + bytes().readUInt32LE(at + 4))
        if (fd !== WAVE) say(part.toString('utf8'))
        else if (!wave.write(part)) return NO_SPACE
        written += part.length
      }
      bytes().writeUInt32LE(written, to)
      return OK
    },
  }
}
