import { invalidField } from '../../src/core/error.ts'
import { MAX_FILE_NAME_BYTES } from './limits.ts'

/** Control characters, and what turns the direction of text: a name that shows as another one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: - these are what has to be found
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/
const ANY_TYPE = 'application/octet-stream'

/** A plain file name as it was sent. @throws AppError 400 that names the part: a name is refused, never mended. */
export function fileName(part: string, sent: string | undefined): string {
  if (sent === undefined || sent === '') throw invalidField(part, 'has no file name')
  if (Buffer.byteLength(sent) > MAX_FILE_NAME_BYTES) {
    throw invalidField(part, `its name may hold ${MAX_FILE_NAME_BYTES} bytes`)
  }
  if (/[/\\]/.test(sent) || sent === '.' || sent === '..') throw invalidField(part, 'its name must not be a path')
  if (UNSHOWN.test(sent) || !sent.isWellFormed()) throw invalidField(part, 'its name holds control characters')
  return sent
}

/** A media type without parameters; what is none is any bytes. */
export function mediaType(sent: string): string {
  const type = sent.toLowerCase()
  return MEDIA_TYPE.test(type) ? type : ANY_TYPE
}

/** `Content-Disposition` of a download (RFC 6266): ASCII for all, the name itself for who reads RFC 8187. */
export function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%;]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
