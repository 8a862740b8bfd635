import { hash } from 'node:crypto'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { AudioError, type Loudness, type Mp3, type Recording } from '../../../ports/audio/audio.ts'
import { checkAddress } from '../docs/pages.ts'
import { defineService, fetchPage, type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'
import { mediaType } from '../web/page.ts'

/** Largest recording (specification). */
const MAX_SOURCE_BYTES = 8 * 1024 * 1024
const MAX_SECONDS = 180
const DEFAULT_LUFS = -16
const TIMEOUT_MS = 120_000
const OK = 200

/** A true peak above this clips on playback. */
const MAX_PEAK_DBTP = -1
/** Encoding raises peaks, so the first limiter ceiling is below `MAX_PEAK_DBTP`; later passes lower it if needed. */
const FIRST_CEILING_DBTP = -1.3
const CEILING_MARGIN_DB = 0.2
/** Loudness differences up to this are inaudible. */
const CLOSE_LU = 0.2
const MAX_PASSES = 5
const SILENCE_LUFS = -70
const MAX_GAIN_DB = 60
const BITRATE_KBPS = 192
const HIGH_RATE_HZ = 48_000
const LOW_RATE_HZ = 44_100

type Settings = Pick<Mp3, 'gainDb' | 'ceilingDbtp'>
type Pass = Settings & { readonly mp3: Buffer; readonly output: Loudness }
type Fitted = { readonly best: Pass; readonly passes: number }
type Normalized = Fitted & { readonly source: Uint8Array; readonly input: Loudness; readonly version: string }

/** Brings a recording to a target loudness (EBU R 128): measures and adjusts until the result is close enough. */
export const audioLoudnessNormalization = defineService({
  slug: 'audio_loudness_normalization',
  needs: ['audio'],
  timeoutMs: TIMEOUT_MS,
  isQuick: () => true, // another program did the work
  check(input, ctx) {
    if (!/^https:\/\//i.test(textOf(input, 'url').trim())) throw wrongField('url', 'must begin with https://')
    checkAddress('url')(input, ctx)
  },
  async read(input, ctx: ServiceCtx<'audio'>): Promise<Normalized> {
    const source = await sourceOf(input, ctx)
    const { target, maxSeconds } = wishesOf(input)
    const { audio } = ctx.engines
    const bounds = { maxSeconds, signal: ctx.signal }
    return heard(
      audio.over(source, bounds, async (recording) => {
        const before = await recording.measure()
        if (!(before.integratedLufs > SILENCE_LUFS))
          throw new AudioError('The audio is silent: there is no loudness to measure.')
        return { source, input: before, version: audio.version(), ...(await brought({ recording, before, target })) }
      }),
    )
  },
  make: (input, { source, input: before, best, passes, version }): Json => {
    const { target, maxSeconds } = wishesOf(input)
    const { mp3, output, gainDb, ceilingDbtp } = best
    return {
      contentType: 'audio/mpeg',
      encoding: 'base64',
      sourceBytes: source.byteLength,
      outputBytes: mp3.byteLength,
      sourceSha256: hash('sha256', source),
      outputSha256: hash('sha256', mp3),
      possiblyTruncated: before.durationSeconds >= maxSeconds,
      measurements: {
        targetLufs: target,
        input: shown(before),
        output: shown(output),
        gainDb: Math.round(gainDb * 100) / 100,
        limited: ceilingDbtp !== undefined,
        passes,
        sampleRateHz: output.sampleRateHz,
        channels: output.channels,
        bitrateKbps: BITRATE_KBPS,
      },
      audioBase64: mp3.toString('base64'),
      engine: { name: 'ffmpeg', version, kind: 'deterministic' },
    }
  },
})

function wishesOf(input: JsonInput) {
  const { targetLufs, maxSeconds } = input
  return {
    target: typeof targetLufs === 'number' ? targetLufs : DEFAULT_LUFS,
    maxSeconds: typeof maxSeconds === 'number' ? maxSeconds : MAX_SECONDS,
  }
}

async function sourceOf(input: JsonInput, ctx: ServiceCtx<'audio'>): Promise<Uint8Array> {
  const page = await fetchPage(ctx, input, { field: 'url', accept: 'audio/*', maxBytes: MAX_SOURCE_BYTES })
  if (page.status !== OK) throw new AppError('provider_failed', `The URL returned status ${page.status}.`)
  if (!mayBeAudio(mediaType(page))) throw new AppError('provider_failed', 'The URL does not return an audio file.')
  return page.body
}

/** Servers send unknown files as `application/octet-stream` or without a type; text is surely a page. */
function mayBeAudio(type: string): boolean {
  return /^(audio|video)\//.test(type) || ['', 'application/ogg', 'application/octet-stream'].includes(type)
}

async function heard<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AudioError) throw new AppError('provider_failed', error.message, { cause: error })
    throw error
  }
}

type Aim = { readonly recording: Recording; readonly before: Loudness; readonly target: number }

/** The encoder and the limiter change the loudness, so each encoded result is measured. */
async function brought({ recording, before, target }: Aim): Promise<Fitted> {
  const shape = {
    channels: before.channels === 1 ? 1 : 2,
    sampleRateHz: before.sampleRateHz % HIGH_RATE_HZ === 0 ? HIGH_RATE_HZ : LOW_RATE_HZ,
    bitrateKbps: BITRATE_KBPS,
  } as const
  const gainDb = bounded(target - before.integratedLufs)
  let how: Settings = {
    gainDb,
    ...(peakOf(before) + gainDb > MAX_PEAK_DBTP ? { ceilingDbtp: FIRST_CEILING_DBTP } : {}),
  }
  const passes: Pass[] = []
  while (passes.length < MAX_PASSES) {
    const mp3 = await recording.mp3({ ...how, ...shape })
    const pass = { ...how, mp3, output: await recording.remeasure(mp3) }
    passes.push(pass)
    if (faultOf(pass, target) <= CLOSE_LU) break
    how = mended(pass, target)
  }
  const [best] = passes.toSorted((one, other) => faultOf(one, target) - faultOf(other, target))
  if (!best) throw new AudioError('The loudness could not be changed.')
  return { best, passes: passes.length }
}

/** Gain and limiter ceiling of the next pass. */
function mended({ gainDb, ceilingDbtp, output }: Pass, target: number): Settings {
  const next = bounded(gainDb + target - output.integratedLufs)
  const tooHigh = peakOf(output) - MAX_PEAK_DBTP
  if (tooHigh <= 0) return { gainDb: next, ...compact({ ceilingDbtp }) }
  const lower = ceilingDbtp === undefined ? FIRST_CEILING_DBTP : ceilingDbtp - tooHigh - CEILING_MARGIN_DB
  return { gainDb: next, ceilingDbtp: lower }
}

/** Distance of a pass from the target, in LU. A pass that clips ranks behind every pass that does not. */
function faultOf({ output }: Pick<Pass, 'output'>, target: number): number {
  const tooHigh = Math.max(0, peakOf(output) - MAX_PEAK_DBTP)
  return Math.abs(target - output.integratedLufs) + (tooHigh > 0 ? MAX_GAIN_DB + tooHigh : 0)
}

function peakOf({ truePeakDbtp }: Loudness): number {
  return truePeakDbtp ?? Number.NEGATIVE_INFINITY
}

function bounded(gainDb: number): number {
  return Math.max(-MAX_GAIN_DB, Math.min(MAX_GAIN_DB, gainDb))
}

function shown({ integratedLufs, truePeakDbtp, loudnessRangeLu, durationSeconds }: Loudness): Json {
  return { integratedLufs, truePeakDbtp, loudnessRangeLu, durationSeconds }
}
