import { gzipSync } from 'node:zlib'
import { validatorOf } from './encode.ts'
import { JSON_TYPE } from './exchange.ts'

/** A finished public page in both forms, with the heads that they go out with: all made once. */
export type SharedPage = {
  readonly etag: string
  readonly plain: Form
  readonly gzip: () => Form
}
type Form = { readonly headers: Readonly<Record<string, string | number>>; readonly body: Buffer }

/** Bodies that are smaller gain nothing from compression. */
export const MIN_GZIP_BYTES = 1_024

export function sharedPage(bytes: Buffer): SharedPage {
  const etag = validatorOf(bytes)
  const formOf = (body: Buffer, more: Record<string, string> = {}): Form => ({
    headers: { 'Content-Type': JSON_TYPE, ETag: etag, ...more, 'Content-Length': body.length },
    body,
  })
  const plain = formOf(bytes)
  let gzip: Form | undefined
  return {
    etag,
    plain,
    gzip: () => {
      gzip ??= bytes.length < MIN_GZIP_BYTES ? plain : formOf(gzipSync(bytes), { 'Content-Encoding': 'gzip' })
      return gzip
    },
  }
}
