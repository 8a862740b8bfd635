import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text as textOfStream } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampled } from '../../../../fixtures/kit/depth.ts'
import { toolPath } from '../../../../fixtures/kit/tools.ts'
import { openAudio } from '../../../ports/audio/audio.ts'
import { openSpeech } from '../../../ports/speech/speech.ts'
import { pcmOf, secondsOf, wavOf, wavWithin } from '../../../ports/speech/wav.ts'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import type { PublicWeb } from '../../../ports/web/web.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { audioLoudnessNormalization } from './audio-loudness-normalization.ts'
import { textToSpeech } from './text-to-speech.ts'

// @slow sounds are made and measured

const [ffmpeg, espeak] = [toolPath('ffmpeg'), toolPath('espeak-ng')]
const MAX_BYTES = 64 * 1024 * 1024

let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

/** The site's own port, under https. */
function webOf(): PublicWeb {
  const web = site.web()
  return { ...web, get: (url, options) => web.get(url.replace(/^https:/, 'http:'), options) }
}
const at = (path: string) => site.at(path).replace(/^http:/, 'https:')

/** Sound that ffmpeg makes of a description. */
function sound(filter: string, args: readonly string[] = ['-f', 'wav']): Buffer {
  const input = ['-f', 'lavfi', '-i', filter]
  return execFileSync('ffmpeg', ['-v', 'error', ...input, ...args, 'pipe:1'], { maxBuffer: MAX_BYTES })
}

/** What another implementation of EBU R 128 measures of decoded samples. */
async function secondOpinion(mp3: Buffer): Promise<{ lufs: number; peak: number }> {
  const rate = 48_000
  const args = ['-v', 'error', '-i', 'pipe:0', '-ac', '2', '-ar', String(rate), '-f', 'f32le', 'pipe:1']
  const raw = execFileSync('ffmpeg', args, { input: mp3, maxBuffer: MAX_BYTES })
  const samples = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength))
  const side = (odd: number) => samples.filter((_, i) => i % 2 === odd)
  const [left, right] = [side(0), side(1)]
  const meter = await import('ebur128-wasm/ebur128_wasm.js')
  const lufs = meter.ebur128_integrated_stereo(rate, left, right)
  return { lufs, peak: meter.ebur128_true_peak_stereo(rate, left, right) }
}

describe.skipIf(!ffmpeg)('loudness (needs ffmpeg)', () => {
  const audio = openAudio()
  beforeAll(async () => {
    await audio.probe?.()
  })
  const normalize = (input: JsonInput) =>
    delivered({ service: audioLoudnessNormalization, input, means: { web: webOf(), engines: { audio: audio.port } } })
  const give = (path: string, body: Buffer | string, type = 'audio/wav') => {
    site.pages[path] = { headers: { 'content-type': type }, body }
  }

  const sounds: readonly [string, string, number][] = [
    ['a quiet tone', 'sine=frequency=440:duration=6,volume=-20dB', -12],
    ['loud noise in stereo', 'anoisesrc=d=6:c=pink:a=0.9,aformat=channel_layouts=stereo', -24],
    ['a tone with clicks that have to be held', 'aevalsrc=0.02*sin(2760*t)+0.9*lt(mod(t\\,0.5)\\,0.002):d=6', -16],
  ]
  it.each(sampled(sounds, sounds.length))(
    'of %s is brought to the target, by the measure of another meter too',
    async (_, filter, targetLufs) => {
      const source = sound(filter)
      give('/a.wav', source)
      const result = await normalize({ url: at('/a.wav'), targetLufs })
      const mp3 = Buffer.from(result.audioBase64, 'base64')
      const opinion = await secondOpinion(mp3)
      expect(Math.abs(result.measurements.output.integratedLufs - targetLufs)).toBeLessThanOrEqual(0.5)
      expect(Math.abs(opinion.lufs - targetLufs)).toBeLessThanOrEqual(0.5)
      expect(opinion.peak).toBeLessThanOrEqual(-0.9)
      const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
      expect(result).toMatchObject({
        sourceBytes: source.length,
        outputBytes: mp3.length,
        sourceSha256: sha256(source),
        outputSha256: sha256(mp3),
        possiblyTruncated: false,
        engine: { name: 'ffmpeg', version: expect.stringMatching(/^\d/), kind: 'deterministic' },
      })
    },
  )

  it('of a recording whose index stands at its end is measured whole', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'souk-sound-')), 'a.m4a')
    const input = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=5,volume=-20dB']
    execFileSync('ffmpeg', ['-v', 'error', ...input, '-c:a', 'aac', file])
    const m4a = readFileSync(file)
    rmSync(dirname(file), { recursive: true })
    expect(m4a.indexOf('moov')).toBeGreaterThan(m4a.indexOf('mdat'))
    give('/a.m4a', m4a, 'audio/mp4')
    const result = await normalize({ url: at('/a.m4a'), targetLufs: -16 })
    expect(result.measurements.input.durationSeconds).toBeCloseTo(5, 0)
    const { lufs } = await secondOpinion(Buffer.from(result.audioBase64, 'base64'))
    expect(Math.abs(lufs + 16)).toBeLessThanOrEqual(0.5)
  })

  it('of an MP3 with a long text in its tag is measured, however much ffmpeg says of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'souk-sound-'))
    const [tag, file] = ['tag.txt', 'a.mp3'].map((name) => join(folder, name)) as [string, string] // two of two
    writeFileSync(tag, `;FFMETADATA1\ncomment=${'ducks '.repeat(14_000)}\n`)
    const tagged = ['-i', tag, '-map', '0:a', '-map_metadata', '1', '-c:a', 'libmp3lame', file]
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=2', ...tagged])
    const mp3 = readFileSync(file)
    rmSync(folder, { recursive: true })
    expect(mp3.length).toBeGreaterThan(80_000)
    give('/a.mp3', mp3, 'audio/mpeg')
    expect((await normalize({ url: at('/a.mp3') })).measurements.input.durationSeconds).toBeCloseTo(2, 0)
  })

  const formats: readonly [string, readonly string[], string][] = [
    ['ogg', ['-c:a', 'libvorbis', '-f', 'ogg'], 'audio/ogg'],
    ['mp3', ['-c:a', 'libmp3lame', '-f', 'mp3'], 'audio/mpeg'],
    ['webm', ['-c:a', 'libopus', '-f', 'webm'], 'video/webm'],
    ['adts', ['-c:a', 'aac', '-f', 'adts'], 'application/octet-stream'],
  ]
  it.each(sampled(formats, formats.length))(
    'of %s is read, and one that is cut in its middle or turned to junk never hangs',
    async (_, args, type) => {
      const whole = sound('sine=d=2', args)
      give('/a', whole, type)
      expect((await normalize({ url: at('/a') })).measurements.input.durationSeconds).toBeCloseTo(2, 0)
      const junk = Buffer.from(whole.map((byte, i) => (i > 40 && i % 7 === 0 ? byte ^ 0x5a : byte)))
      for (const damaged of [whole.subarray(0, whole.length >> 1), junk, whole.subarray(0, 60)]) {
        give('/a', damaged, type)
        const made = normalize({ url: at('/a') }).then(
          (result) => result.contentType,
          (error: { code?: string }) => error.code,
        )
        expect(['audio/mpeg', 'provider_failed']).toContain(await made)
      }
    },
  )

  it('works on the longest part that was asked for, and says so', async () => {
    give('/long.flac', sound('sine=d=5', ['-f', 'flac']), 'audio/flac')
    const result = await normalize({ url: at('/long.flac'), maxSeconds: 2 })
    expect(result.possiblyTruncated).toBe(true)
    expect(result.measurements.output.durationSeconds).toBeLessThan(2.2)
  })

  it.each<[string, () => Buffer | string, string, string]>([
    ['silence', () => sound('anullsrc=d=2'), 'audio/wav', 'The audio is silent: there is no loudness to measure.'],
    ['a page', () => '<p>no sound</p>', 'text/html', 'The URL does not return an audio file.'],
    ['noise that is no recording', () => Buffer.alloc(5_000, 7), 'audio/mpeg', 'The file contains no readable audio'],
    ['a picture', () => sound('sine=d=1').subarray(0, 20), 'audio/wav', 'The file contains no readable audio'],
  ])('of %s is a failure that says why', async (_, ...[body, type, message]) => {
    give('/x', body(), type)
    await expect(normalize({ url: at('/x') })).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringContaining(message),
    })
  })

  it.each<[string, (target: string) => string]>([
    ['a playlist of the web', (target) => `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n${target}\n#EXT-X-ENDLIST\n`],
    ['a playlist of files', () => '#EXTM3U\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'],
    ['a list to join', (target) => `ffconcat version 1.0\nfile '${target}'\n`],
    ['a manifest', (target) => `<?xml version="1.0"?><MPD><BaseURL>${target}</BaseURL></MPD>`],
  ])('of %s is refused, and nothing else is opened', async (_, body) => {
    give('/victim.wav', sound('sine=d=1'))
    give('/list', body(site.at('/victim.wav')), 'audio/x-mpegurl')
    await expect(normalize({ url: at('/list') })).rejects.toMatchObject({ code: 'provider_failed' })
    expect(site.asked).toEqual(['GET /robots.txt', 'GET /list'])
  })

  it('of what is too large, gone, or not on https costs nothing', async () => {
    give('/large', Buffer.alloc(8 * 1024 * 1024 + 1))
    await expect(normalize({ url: at('/large') })).rejects.toMatchObject({ code: 'provider_failed' })
    await expect(normalize({ url: at('/gone') })).rejects.toMatchObject({ message: 'The URL returned status 404.' })
    expect(() => audioLoudnessNormalization.check({ url: 'http://site.test/a.wav' })).toThrow(/^url: /)
  })
})

describe('speech in WAV', () => {
  const tone = {
    sampleRateHz: 22_050,
    samples: Int16Array.from({ length: 66_150 }, (_, i) => 9_000 * Math.sin(i / 20)),
  }

  it('keeps its samples, and is believed only as far as it goes', () => {
    const wav = wavOf(tone)
    expect(pcmOf(wav)).toEqual(tone)
    wav.writeUInt32LE(0x7ffff000, 40)
    expect(secondsOf(pcmOf(wav))).toBe(3)
    expect(() => pcmOf(Buffer.from('no sound at all'))).toThrow(RangeError)
  })

  it.skipIf(!ffmpeg)('is made to fit where it would be too large, and sounds for as long (needs ffmpeg)', () => {
    const { wav, sampleRateHz } = wavWithin(tone, 40_000)
    expect(wav.length).toBeLessThanOrEqual(40_000)
    const args = ['-v', 'error', '-i', 'pipe:0', '-f', 's16le', 'pipe:1']
    const decoded = execFileSync('ffmpeg', args, { input: wav, maxBuffer: MAX_BYTES })
    const loudest = Math.max(
      ...new Int16Array(decoded.buffer.slice(decoded.byteOffset, decoded.byteOffset + decoded.length)),
    )
    expect(decoded.length / 2 / sampleRateHz).toBeCloseTo(3, 1)
    expect(loudest).toBeGreaterThan(8_000)
    expect(loudest).toBeLessThan(10_000)
  })
})

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and nobody minds.'

describe.skipIf(!espeak)('speech (needs espeak-ng)', () => {
  const audio = openAudio()
  const silentAudio = openAudio({ path: '/nowhere' })
  const speech = openSpeech({ audio: audio.port })
  beforeAll(async () => {
    await speech.probe?.()
  })
  const speak = (input: JsonInput, engine = speech) =>
    delivered({ service: textToSpeech, input, means: { engines: { speech: engine.port } } })

  it.skipIf(!ffmpeg)('is as long as what is said, and plays (needs ffmpeg)', async () => {
    const result = await speak({ text: SENTENCE, model_id: 'espeak-ng' })
    const audioBytes = Buffer.from(result.audio_base64, 'base64')
    const args = ['-v', 'error', '-i', 'pipe:0', '-f', 's16le', 'pipe:1']
    const decoded = execFileSync('ffmpeg', args, { input: audioBytes, maxBuffer: MAX_BYTES })
    expect(decoded.length / 2 / result.sample_rate_hz).toBeCloseTo(result.duration_seconds, 0)
    expect(result.duration_seconds).toBeGreaterThan(SENTENCE.length * 0.04)
    expect(result.duration_seconds).toBeLessThan(SENTENCE.length * 0.12)
    expect(result).toMatchObject({
      voice_id: 'en',
      content_type: 'audio/mpeg',
      characters: SENTENCE.length,
      bytes: audioBytes.length,
      engine: { name: 'espeak-ng', kind: 'deterministic' },
    })
  })

  it('differs by voice, is the same for the same words, and takes the language of the text', async () => {
    const plain = openSpeech({ audio: silentAudio.port })
    await plain.probe?.()
    const [one, again, other, german] = await Promise.all([
      speak({ text: SENTENCE, voice_id: 'en' }, plain),
      speak({ text: SENTENCE, voice_id: 'en' }, plain),
      speak({ text: SENTENCE, voice_id: 'en+f2' }, plain),
      speak({ text: 'Guten Morgen, wie geht es Ihnen an diesem schönen Tag?' }, plain),
    ])
    expect(one.sha256).toBe(again.sha256)
    expect(one.sha256).not.toBe(other.sha256)
    expect(one).toMatchObject({ content_type: 'audio/wav', model_id: 'espeak-ng' })
    expect(german).toMatchObject({ voice_id: 'de', language: 'de' })
  })

  // Of the port: a purchase has 30 s for it, and a machine that does other things takes longer.
  const ways = [...(ffmpeg ? ['with'] : []), 'without']
  it.each(sampled(ways, ways.length))('of the longest text allowed is small enough, %s ffmpeg', async (way) => {
    const text = SENTENCE.repeat(100).slice(0, 5_000)
    const one = way === 'with' ? speech : openSpeech({ audio: silentAudio.port })
    await one.probe?.()
    const wish = { text, voice: 'en', model: undefined, language: 'en' }
    const { audio } = await one.port.speak(wish, new AbortController().signal)
    expect(audio.byteLength).toBeLessThanOrEqual(6 * 1024 * 1024)
  })

  it('reads words, not commands: brackets of sounds and control characters say nothing of their own', async () => {
    const plain = openSpeech({ audio: silentAudio.port })
    await plain.probe?.()
    const [sounds, words] = await Promise.all(
      ["[[h@l'oU]]", "h@l'oU"].map((text) => speak({ text: `${text} ${SENTENCE}`, voice_id: 'en' }, plain)),
    )
    expect(sounds.duration_seconds).toBeGreaterThanOrEqual(words.duration_seconds)
    await expect(speak({ text: `\u0001\u001b[2J ${SENTENCE}`, voice_id: 'en' }, plain)).resolves.toMatchObject({
      language: 'en',
    })
  })

  it.each([
    ['voice_id', 'nobody'],
    ['voice_id', '../../etc/passwd'],
    ['model_id', 'none'],
  ])('by a %s that is not there (%s) is refused before payment, and says what there is', (field, value) => {
    const check = () => textToSpeech.check({ text: 'a', [field]: value }, { engines: { speech: speech.port } })
    expect(check).toThrow(new RegExp(`^${field}: unknown value; available: .*e`))
  })
})

describe('natural voices', () => {
  const natural = (key = 'secret') => ({
    upstream: openUpstream({
      web: site.web({ exempt: () => false }),
      wall: Date.now,
      name: 'The voices',
      base: site.at('/voices'),
      headers: { 'xi-api-key': key },
      maxBytes: 1_000_000,
      fix: 'nothing',
    }),
    voices: ['rachel', 'adam'],
    models: ['multi'],
  })
  const nobody = () =>
    openSpeech({ audio: openAudio({ path: '/nowhere' }).port, natural: natural(), path: '/nowhere', flite: '/nowhere' })
  const speak = (input: JsonInput, engine = nobody()) =>
    delivered({ service: textToSpeech, input, means: { engines: { speech: engine.port } } })

  it('speak what names none, by the first of them; the key goes in a header alone', async () => {
    const seen: { url?: string | undefined; key: unknown; body: unknown }[] = []
    site.pages['/voices/v1/text-to-speech/rachel'] = async (req: IncomingMessage, res: ServerResponse) => {
      seen.push({ url: req.url, key: req.headers['xi-api-key'], body: JSON.parse(await textOfStream(req)) })
      res.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(16_000, 1))
    }
    const result = await speak({ text: SENTENCE })
    expect(result).toMatchObject({
      voice_id: 'rachel',
      model_id: 'multi',
      duration_seconds: 2,
      engine: { kind: 'upstream' },
    })
    expect(seen).toEqual([
      { url: expect.not.stringContaining('secret'), key: 'secret', body: { text: SENTENCE, model_id: 'multi' } },
    ])
  })

  it.each<[string, number, string]>([
    ['fails', 500, 'audio/mpeg'],
    ['answers with a page', 200, 'text/html'],
  ])('that are named and whose interface %s cost nothing', async (_, status, type) => {
    site.pages['/voices/v1/text-to-speech/adam'] = { status, headers: { 'content-type': type }, body: 'x' }
    await expect(speak({ text: SENTENCE, voice_id: 'adam' })).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it.skipIf(!espeak)('are stood in for by the program where none was named (needs espeak-ng)', async () => {
    site.pages['/voices/v1/text-to-speech/rachel'] = { status: 400 }
    const engine = openSpeech({ audio: openAudio({ path: '/nowhere' }).port, natural: natural(), flite: '/nowhere' })
    await engine.probe?.()
    expect(await speak({ text: SENTENCE }, engine)).toMatchObject({
      engine: { name: 'espeak-ng', fallback_from: 'natural voices' },
    })
  })
})
