import { randomUUID } from 'node:crypto'
import { chown, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownOf } from '../../../src/core/record.ts'
import type { Engine } from '../engine.ts'
import { leftoverPrefix, leftoversIn, removeLeftover } from '../program/leftovers.ts'
import { openProgram, ProgramError, programStanding, type SystemProgram } from '../program/program.ts'

/** Loudness and true peak of a recording, by EBU R 128. */
export type Loudness = ReturnType<typeof loudnessOf>

export type Mp3 = {
  readonly gainDb: number
  /** True peak limit (default: none). */
  readonly ceilingDbtp?: number
  readonly sampleRateHz: number
  readonly channels: 1 | 2
  readonly bitrateKbps: number
}
export type AudioBounds = { readonly maxSeconds: number; readonly signal: AbortSignal }

/** Operations on a recording in a temporary file. */
export type Recording = {
  /** @throws AudioError, ProgramError */
  readonly measure: () => Promise<Loudness>
  /** @throws AudioError, ProgramError */
  readonly mp3: (how: Mp3) => Promise<Buffer>
  /** Measures the loudness of an encoded MP3. @throws AudioError, ProgramError */
  readonly remeasure: (mp3: Buffer) => Promise<Loudness>
}

export type AudioEngine = {
  /** Writes a recording to a temporary file, runs `work` on it, then removes the file. */
  readonly over: <T>(bytes: Uint8Array, bounds: AudioBounds, work: (recording: Recording) => Promise<T>) => Promise<T>
  /** Whether ffmpeg is installed now. */
  readonly isThere: () => boolean
  /** Program version; `unknown` before the first check. */
  readonly version: () => string
}

/** The file is not a readable recording, or its format is not allowed. */
export class AudioError extends Error {
  override readonly name = 'AudioError'
}

/** Allowed container formats. Playlists and scripts are not allowed, because ffmpeg would open the files they name. */
const FORMATS = 'mp3,wav,flac,ogg,aac,mov,matroska,webm,aiff,caf,amr,w64,au'
const MAX_MP3_BYTES = 6 * 1024 * 1024
const MAX_REPORT_BYTES = 256 * 1024
const PRIVATE_FILE = 0o600
/** Included in the names of temporary files. */
const KIND = 'audio'
/** User id of `nobody`, who runs ffmpeg and owns the input if the daemon runs as root. */
const NOBODY = 65_534
/** Oversampling factor of the limiter, so that it also finds peaks between samples. */
const OVERSAMPLING = 4
const DB_PER_DECADE = 20
const MICROS = 1_000_000
const isWindows = process.platform === 'win32'

/** Opens ffmpeg for untrusted recordings. `command`: name or path of ffmpeg; `path`: folders to search for it. */
export function openAudio({ command = 'ffmpeg', path }: { command?: string; path?: string } = {}): Engine<AudioEngine> {
  const ffmpeg = openProgram(command, path === undefined ? {} : { path })
  let version = 'unknown'
  return {
    port: {
      over: (bytes, bounds, work) => over(ffmpeg, { bytes, bounds }, work),
      isThere: () => ffmpeg.path() !== undefined,
      version: () => version,
    },
    initial: { status: 'missing', detail: 'ffmpeg has not been checked yet.', fix: 'install ffmpeg' },
    probe: async () => {
      await sweepRecordings(Date.now())
      const standing = await programStanding(ffmpeg, { versionArgs: ['-version'], package: 'ffmpeg' })
      version = /version (\S+)/.exec(standing.detail)?.[1] ?? version
      return standing
    },
  }
}

/** Removes recordings left by a killed daemon. */
export async function sweepRecordings(now: number): Promise<void> {
  const owners = [process.getuid?.(), ...(process.getuid?.() === 0 ? [NOBODY] : [])]
  const found = await leftoversIn({ folder: tmpdir(), kind: KIND, now, owners })
  for (const file of found) await removeLeftover(file)
}

type Given = { readonly bytes: Uint8Array; readonly bounds: AudioBounds }

async function over<T>(ffmpeg: SystemProgram, { bytes, bounds }: Given, work: (recording: Recording) => Promise<T>) {
  // Use a file instead of a pipe, because ffmpeg must seek in formats that have their index at the end.
  const file = join(tmpdir(), leftoverPrefix(KIND) + randomUUID())
  await writeFile(file, bytes, { mode: PRIVATE_FILE, flag: 'wx' })
  try {
    if (process.getuid?.() === 0) await chown(file, NOBODY, NOBODY)
    return await work(recordingOf(ffmpeg, { file, bounds }))
  } finally {
    await rm(file, { force: true })
  }
}

function recordingOf(ffmpeg: SystemProgram, { file, bounds }: { file: string; bounds: AudioBounds }): Recording {
  const { maxSeconds, signal } = bounds
  const common = ['-hide_banner', '-nostdin', '-nostats', '-threads', '1', '-filter_threads', '1']
  const guard = ['-protocol_whitelist', 'file', '-format_whitelist', FORMATS]
  const source = ['-t', String(maxSeconds), '-i', `file:${isWindows ? file : '/dev/fd/3'}`]
  const only = ['-map', '0:a:0', '-vn', '-sn', '-dn']

  async function run(args: readonly string[], maxBytes: number) {
    try {
      const all = [...common, ...guard, ...source, ...only, ...args]
      return await ffmpeg.run({ args: all, maxBytes, signal, file })
    } catch (error) {
      if (!(error instanceof ProgramError) || error.failure !== 'refused') throw error
      throw new AudioError('The file contains no readable audio.', { cause: error })
    }
  }

  return {
    measure: async () => {
      const meter = [
        '-af',
        'ebur128=peak=true:framelog=verbose',
        '-progress',
        'pipe:1',
        '-map_metadata',
        '-1',
        '-f',
        'null',
        '-',
      ]
      const { stdout, stderr } = await run(meter, MAX_REPORT_BYTES)
      return loudnessOf(stdout.toString('utf8'), stderr)
    },
    mp3: async (how) => (await run(mp3Args(how), MAX_MP3_BYTES)).stdout,
    remeasure: (mp3) => over(ffmpeg, { bytes: mp3, bounds }, (made) => made.measure()),
  }
}

function mp3Args({ gainDb, ceilingDbtp, sampleRateHz, channels, bitrateKbps }: Mp3): string[] {
  const layout = `aformat=channel_layouts=${channels === 1 ? 'mono' : 'stereo'}`
  const held =
    ceilingDbtp === undefined
      ? []
      : [
          `aresample=${sampleRateHz * OVERSAMPLING}`,
          `alimiter=limit=${(10 ** (ceilingDbtp / DB_PER_DECADE)).toFixed(5)}:attack=2:release=60:level=false`,
        ]
  const filters = [layout, `volume=${gainDb.toFixed(3)}dB`, ...held, `aresample=${sampleRateHz}`]
  const plain = ['-map_metadata', '-1', '-fflags', '+bitexact', '-id3v2_version', '0', '-write_xing', '0']
  const rate = ['-c:a', 'libmp3lame', '-b:a', `${bitrateKbps}k`, '-ar', String(sampleRateHz), '-ac', String(channels)]
  return ['-af', filters.join(','), ...rate, ...plain, '-f', 'mp3', 'pipe:1']
}

/** Parses the meter's output. Reads only the last summary, because the recording's metadata may imitate one. */
function loudnessOf(progress: string, said: string) {
  const summary = said.slice(said.lastIndexOf('Summary:'))
  const number = (pattern: RegExp) => Number(pattern.exec(summary)?.[1] ?? Number.NaN)
  const integratedLufs = number(/\bI:\s+(-?[\d.]+) LUFS/)
  const peak = number(/Peak:\s+(-?[\d.]+) dBFS/)
  const micros = [...progress.matchAll(/^out_time_us=(\d+)$/gm)].at(-1)?.[1]
  const [, rate, layout = ''] = /Stream #0:.*Audio: .*?(\d+) Hz, ([^,\n]+)/.exec(said) ?? []
  if (!Number.isFinite(integratedLufs) || micros === undefined || rate === undefined) {
    throw new AudioError('The loudness of the audio cannot be measured.')
  }
  return {
    /** -70 means silence. */
    integratedLufs,
    /** Null for digital silence. */
    truePeakDbtp: Number.isFinite(peak) ? peak : null,
    loudnessRangeLu: number(/LRA:\s+([\d.]+) LU/) || 0,
    durationSeconds: Number(micros) / MICROS,
    sampleRateHz: Number(rate),
    channels: channelsOf(layout),
  }
}

const layouts: Readonly<Record<string, number>> = {
  mono: 1,
  stereo: 2,
  '2.1': 3,
  quad: 4,
  '4.0': 4,
  '5.0': 5,
  '5.1': 6,
  '7.1': 8,
}

/** Number of channels in an ffmpeg layout, such as `mono`, `stereo`, `5.1(side)`, `12 channels`. */
function channelsOf(layout: string): number {
  const counted = /^(\d+) channels/.exec(layout.trim())?.[1]
  return Number(counted ?? ownOf(layouts, layout.trim().replace(/\(.*$/, '')) ?? 2)
}
