import type { Scalar } from '../port.ts'

/*
 * Binary keys in the order of `compareScalars`: null, booleans, numbers and bigints by value, strings by UTF-16 unit.
 * Each scalar is self-delimiting, so scalars can be concatenated.
 */

const NULL = 0
const FALSE = 1
const TRUE = 2
const NUMBER = 3
const STRING = 4

/**
 * Base of a number's first two bytes: a positive number has this value plus the length of its integer part. The
 * magnitude follows, and a double if there is a fraction. A negative number has all bytes inverted.
 */
const POSITIVE = 0x8000
const LENGTH_BYTES = 2
const MAX_MAGNITUDE_BYTES = 0x7fff
const WHOLE = 0
const BROKEN = 1
const FRACTION_BYTES = 8
const ESCAPED = 0xff
const HEX = 16

export function encodeScalar(value: Scalar): Buffer {
  if (value === null) return Buffer.of(NULL)
  if (typeof value === 'boolean') return Buffer.of(value ? TRUE : FALSE)
  if (typeof value === 'string') return encodeText(value)
  const magnitude = value < 0 ? -value : value
  const bytes = Buffer.concat([lengthAndWhole(magnitude), fractionOf(magnitude)])
  return Buffer.concat([Buffer.of(NUMBER), value < 0 ? bytes.map((byte) => ~byte) : bytes])
}

/** Bytes as text, one character each: cheaper to join than buffers. */
export const latin = (bytes: Buffer): string => bytes.toString('latin1')
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

const PLAIN = /^[ -~]*$/
const BYTE = 256

/** `encodeScalar` as one character a byte. */
export function scalarKey(value: Scalar): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `\x04${value}\0\0`
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return latin(encodeScalar(value))
  let digits = ''
  for (let left = value; left > 0; left = Math.floor(left / BYTE)) digits = String.fromCharCode(left % BYTE) + digits
  return `\x03\x80${String.fromCharCode(digits.length)}${digits}\0`
}

/** `textBytes` as one character a byte. */
export function textKey(text: string): string {
  return PLAIN.test(text) ? text : latin(textBytes(text))
}

function lengthAndWhole(magnitude: number | bigint): Buffer {
  if (magnitude === Number.POSITIVE_INFINITY || Number.isNaN(magnitude)) throw new TypeError('it cannot be indexed')
  const whole = typeof magnitude === 'bigint' ? magnitude : BigInt(Math.floor(magnitude))
  const hex = whole === 0n ? '' : whole.toString(HEX)
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  if (digits.length > MAX_MAGNITUDE_BYTES) throw new TypeError('a number is too large to be indexed')
  const bytes = Buffer.alloc(LENGTH_BYTES + digits.length)
  bytes.writeUInt16BE(POSITIVE + digits.length)
  bytes.set(digits, LENGTH_BYTES)
  return bytes
}

function fractionOf(magnitude: number | bigint): Buffer {
  const fraction = typeof magnitude === 'bigint' ? 0 : magnitude % 1
  if (fraction === 0) return Buffer.of(WHOLE)
  const bytes = Buffer.alloc(1 + FRACTION_BYTES, BROKEN)
  bytes.writeDoubleBE(fraction, 1)
  return bytes
}

/** Zero bytes are escaped; two zero bytes end a text. */
function encodeText(text: string): Buffer {
  const bytes = textBytes(text)
  if (!bytes.includes(0)) return Buffer.concat([Buffer.of(STRING), bytes, Buffer.of(0, 0)])
  const escaped = [...bytes].flatMap((byte) => (byte === 0 ? [0, ESCAPED] : [byte]))
  return Buffer.from([STRING, ...escaped, 0, 0])
}

const SURROGATE = /[\uD800-\uDFFF]/
const SURROGATE_LEAD = 0xed
const CONTINUED = 0x80
const LOW_BITS = 0x3f

/** CESU-8, which sorts by UTF-16 units and keeps any string. */
export function textBytes(text: string): Buffer {
  if (!SURROGATE.test(text)) return Buffer.from(text)
  return Buffer.concat(
    Array.from({ length: text.length }, (_, n) => {
      const unit = text.charCodeAt(n)
      if (!SURROGATE.test(text[n] ?? '')) return Buffer.from(text[n] ?? '')
      return Buffer.of(SURROGATE_LEAD, CONTINUED | ((unit >> 6) & LOW_BITS), CONTINUED | (unit & LOW_BITS))
    }),
  )
}

export function textOf(bytes: Buffer): string {
  if (!bytes.includes(SURROGATE_LEAD)) return bytes.toString()
  let text = ''
  let from = 0
  for (let at = bytes.indexOf(SURROGATE_LEAD); at !== -1; at = bytes.indexOf(SURROGATE_LEAD, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1)
    // Characters from U+D000 to U+D7FF begin with the same byte as surrogates, but are not surrogates.
    if (second < CONTINUED + 0x20) continue
    text +=
      bytes.toString('utf8', from, at) + String.fromCharCode(0xd000 | ((second & LOW_BITS) << 6) | (third & LOW_BITS))
    from = at + 3
  }
  return text + bytes.toString('utf8', from)
}

/** @returns the end of the scalar at `at` */
export function endOfScalar(bytes: Buffer, at: number): number {
  const kind = bytes[at]
  if (kind === STRING) return endOfText(bytes, at + 1)
  if (kind !== NUMBER) return at + 1
  const length = bytes.readUInt16BE(at + 1)
  const afterWhole = at + 1 + LENGTH_BYTES + (length >= POSITIVE ? length - POSITIVE : POSITIVE - 1 - length)
  const isWhole = bytes[afterWhole] === WHOLE || bytes[afterWhole] === ESCAPED
  return afterWhole + 1 + (isWhole ? 0 : FRACTION_BYTES)
}

function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0, from); at !== -1; at = bytes.indexOf(0, at + 2)) if (bytes[at + 1] === 0) return at + 2
  throw new RangeError('a string in an index entry is not terminated')
}

/** First key after all keys with a prefix, which must have a byte other than 0xff. */
export function behind(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix)
  for (let at = end.length - 1; at >= 0; at -= 1) {
    if (end[at] === ESCAPED) continue
    end[at] = (end[at] ?? 0) + 1
    return end.subarray(0, at + 1)
  }
  throw new RangeError('there is no key after this prefix')
}
