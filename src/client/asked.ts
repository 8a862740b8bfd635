import type { z } from 'zod'
import type { Request } from '../api/endpoint/define.ts'
import type { Api, EndpointName } from '../api/index.ts'
import type { TransportRequest } from './transport.ts'
import type { SentFile } from './upload.ts'

export type Streaming = {
  [K in EndpointName]: Api[K]['reply'] extends { readonly kind: 'events' } ? K : never
}[EndpointName]
/** Endpoints that answer JSON. */
export type Callable = {
  [K in EndpointName]: Api[K]['reply'] extends { readonly schema: z.ZodType } ? Exclude<K, Streaming> : never
}[EndpointName]

/** Endpoints without JSON responses. */
export type OpenName = Exclude<EndpointName, Callable>

/** What a call is asked. While `K` is not inferred yet it is any object, as in `WireAnswer`; calls take `K & Callable`. */
export type Asked<K extends string> = (K extends EndpointName ? Request<Api[K]> & FileOf<Api[K]> : object) & Sending

export type SentBody<K extends EndpointName> =
  Request<Api[K]> extends { readonly body?: infer B } ? NonNullable<B> : never

export type Queried<K extends EndpointName> =
  Request<Api[K]> extends { readonly query?: infer Q } ? NonNullable<Q> : never

export type Sending = Pick<TransportRequest, 'headers' | 'timeoutMs' | 'signal'>

/** An endpoint with a form needs a file, unless it accepts JSON in place of the form. */
type FileOf<E> = E extends { body: { kind: 'multipart'; orJson: infer O } }
  ? O extends true
    ? { readonly file?: SentFile | undefined }
    : { readonly file: SentFile }
  : object
