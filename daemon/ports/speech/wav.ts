/** Mono samples. */
export type Pcm = { readonly sampleRateHz: number; readonly samples: Int16Array }

const HEADER_BYTES = 44
const RIFF_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
const BYTES_A_SAMPLE = 2
const BITS_A_SAMPLE = 16
const FORMAT_PCM = 1
const FORMAT_MU_LAW = 7
const FORMAT_CHUNK_BYTES = 16

/** Returns the samples of a piped WAV, whose declared lengths are unreliable. @throws RangeError unless 16-bit mono */
export function pcmOf(wav: Buffer): Pcm {
  const chunks = chunksOf(wav)
  const format = chunks.get('fmt ')
  const data = chunks.get('data')
  if (!data || !format || !isPlain(format)) throw new RangeError('not a mono 16-bit WAV')
  const bytes = data.length - (data.length % BYTES_A_SAMPLE)
  // Copy the bytes, because `Int16Array` needs them aligned. All platforms are little-endian, as WAV is.
  const samples = new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + bytes))
  return { sampleRateHz: format.readUInt32LE(4), samples }
}

function isPlain(format: Buffer): boolean {
  const [kind, channels, bits] = [0, 2, 14].map((at) => format.readUInt16LE(at))
  return kind === FORMAT_PCM && channels === 1 && bits === BITS_A_SAMPLE
}

function chunksOf(wav: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>()
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= wav.length; ) {
    const from = at + CHUNK_HEADER_BYTES
    const length = wav.readUInt32LE(at + 4)
    const chunk = wav.subarray(from, from + length)
    const name = wav.toString('latin1', at, at + 4)
    if (name !== 'fmt ' || chunk.length >= FORMAT_CHUNK_BYTES) chunks.set(name, chunk)
    at = from + length
  }
  return chunks
}

/** Concatenates waves of one rate. @throws RangeError for no waves, an invalid one, or more than `maxBytes` */
export function joinedWaves(waves: readonly Buffer[], maxBytes: number): Buffer {
  const parts = waves.map(pcmOf)
  const length = parts.reduce((sum, { samples }) => sum + samples.length, 0)
  const [first] = parts
  if (!first || length * BYTES_A_SAMPLE > maxBytes) throw new RangeError('the speech is empty or too long')
  const samples = new Int16Array(length)
  let at = 0
  for (const part of parts) {
    samples.set(part.samples, at)
    at += part.samples.length
  }
  return wavOf({ sampleRateHz: first.sampleRateHz, samples })
}

export function secondsOf({ samples, sampleRateHz }: Pcm): number {
  return samples.length / sampleRateHz
}

export function wavOf(pcm: Pcm): Buffer {
  const { sampleRateHz, samples } = pcm
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  return Buffer.concat([header({ format: FORMAT_PCM, bytes: BYTES_A_SAMPLE, sampleRateHz }, data.length), data])
}

/** Encodes a WAV that fits `maxBytes`: 16-bit if possible, else 8-bit G.711 at a lower sample rate. */
export function wavWithin(pcm: Pcm, maxBytes: number): { wav: Buffer; sampleRateHz: number } {
  const { samples, sampleRateHz } = pcm
  if (HEADER_BYTES + samples.byteLength <= maxBytes) return { wav: wavOf(pcm), sampleRateHz }
  const rate = Math.min(sampleRateHz, Math.floor((maxBytes - HEADER_BYTES) / secondsOf(pcm)) - 1)
  const { samples: fewer } = atRate(pcm, rate)
  const data = Buffer.alloc(fewer.length)
  for (let i = 0; i < fewer.length; i += 1) data[i] = muLaw(fewer[i] ?? 0)
  const head = header({ format: FORMAT_MU_LAW, bytes: 1, sampleRateHz: rate }, data.length)
  return { wav: Buffer.concat([head, data]), sampleRateHz: rate }
}

/** Lowers the sample rate by averaging, to avoid aliasing. */
function atRate({ samples, sampleRateHz }: Pcm, rate: number): Pcm {
  const step = sampleRateHz / rate
  const made = new Int16Array(Math.floor(samples.length / step))
  for (let i = 0; i < made.length; i += 1) {
    const from = Math.floor(i * step)
    const to = Math.max(Math.floor((i + 1) * step), from + 1)
    let sum = 0
    for (let at = from; at < to; at += 1) sum += samples[at] ?? 0
    made[i] = sum / (to - from)
  }
  return { samples: made, sampleRateHz: rate }
}

const MU_LAW_BIAS = 0x84
const MU_LAW_CLIP = 32_635

/** Encodes a sample by ITU-T G.711: sign, exponent and mantissa, inverted. */
function muLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const level = Math.min(Math.abs(sample), MU_LAW_CLIP) + MU_LAW_BIAS
  const exponent = 24 - Math.clz32(level)
  return ~(sign | (exponent << 4) | ((level >> (exponent + 3)) & 0x0f)) & 0xff
}

type Shape = { readonly format: number; readonly bytes: number; readonly sampleRateHz: number }

function header({ format, bytes, sampleRateHz }: Shape, dataBytes: number): Buffer {
  const head = Buffer.alloc(HEADER_BYTES)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(HEADER_BYTES - CHUNK_HEADER_BYTES + dataBytes, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(FORMAT_CHUNK_BYTES, 16)
  head.writeUInt16LE(format, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRateHz, 24)
  head.writeUInt32LE(sampleRateHz * bytes, 28)
  head.writeUInt16LE(bytes, 32)
  head.writeUInt16LE(bytes * 8, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(dataBytes, 40)
  return head
}
