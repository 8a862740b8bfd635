import { createHmac, timingSafeEqual } from 'node:crypto'
import { unixSeconds } from './time.ts'
import { standardKey } from './webhook-signature.ts'

/** Clock tolerance, as Standard Webhooks advises. */
export const WEBHOOK_TOLERANCE_SECONDS = 300
/** Longest signature header. */
const MAX_HEADER_CHARS = 4_096
const DIGEST_BYTES = 32
const MAX_TIMESTAMP_DIGITS = 12

export type WebhookFault =
  | 'missing'
  /** Unreadable header. */
  | 'malformed'
  | 'scheme'
  | 'truncated'
  | 'mismatch'
  /** Correctly signed, but too old or too far in the future. */
  | 'stale'

export type ReceivedWebhook = {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Raw bytes, never re-serialised. */
  readonly body: string | Uint8Array
  /** Secrets of the account; after a rotation, the new and the old one. */
  readonly secrets: readonly string[]
  /** Receiver's clock. */
  readonly now: number
  readonly toleranceSeconds?: number
}

export type WebhookVerdict =
  | { readonly ok: true; readonly id: string; readonly timestamp: number }
  | { readonly ok: false; readonly fault: WebhookFault; readonly header: string; readonly message: string }

type Form = {
  readonly signature: string
  readonly timestamp: string
  /** The signed text that precedes the body, such as the timestamp. */
  readonly prefix: (headers: ReceivedWebhook['headers']) => string
  readonly key: (secret: string) => string | Uint8Array
  /** Parses the signatures of this scheme from a header. */
  readonly read: (value: string) => readonly Buffer[]
  readonly written: string
}

/** Both signature forms (decisions §10). */
export const webhookForms: readonly Form[] = [
  {
    signature: 'webhook-signature',
    timestamp: 'webhook-timestamp',
    prefix: (headers) => `${headers['webhook-id']}.${headers['webhook-timestamp']}.`,
    key: standardKey,
    read: (value) =>
      value.split(' ').flatMap((part) => (part.startsWith('v1,') ? [Buffer.from(part.slice(3), 'base64')] : [])),
    written: 'v1,BASE64',
  },
  {
    signature: 'x-webhook-signature',
    timestamp: 'x-webhook-timestamp',
    prefix: (headers) => `${headers['x-webhook-timestamp']}.`,
    key: (secret) => secret,
    read: (value) => (value.startsWith('sha256=') ? [Buffer.from(value.slice(7), 'hex')] : []),
    written: 'sha256=HEX',
  },
]

/** Verifies a message. If both signatures are present, both must be valid. */
export function verifyWebhook(message: ReceivedWebhook): WebhookVerdict {
  const { headers } = message
  const present = webhookForms.filter((form) => headers[form.signature] !== undefined)
  if (present.length === 0) return fault('missing', 'webhook-signature', 'missing, and so is x-webhook-signature')
  for (const form of present) {
    const found = formFault(form, message)
    if (found) return found
  }
  const timestamp = Number(headers[present[0]?.timestamp ?? ''])
  return { ok: true, id: headers['webhook-id'] ?? '', timestamp }
}

function formFault(form: Form, message: ReceivedWebhook): WebhookVerdict | undefined {
  const { headers, body, secrets } = message
  const given = headers[form.signature] ?? ''
  const unreadable = headFault(form, headers)
  if (unreadable) return unreadable
  const signatures = signaturesIn(form, headers)
  if (signatures.length === 0) return fault('scheme', form.signature, `must look like ${form.written}`)
  const whole = signatures.filter((one) => one.length === DIGEST_BYTES)
  if (whole.length === 0) {
    return fault(
      'truncated',
      form.signature,
      `has ${given.length} characters, which do not encode a digest of ${DIGEST_BYTES} bytes`,
    )
  }
  const isSigned = secrets.some((secret) =>
    whole.some((one) => timingSafeEqual(one, signatureOf(form, { headers, body, secret }))),
  )
  if (!isSigned) return fault('mismatch', form.signature, 'does not match this body and secret')
  return ageFault(form, message)
}

/** The received signatures in one form (see `Form`). After a rotation, the hex form has a second header. */
export function signaturesIn(form: Form, headers: ReceivedWebhook['headers']): readonly Buffer[] {
  return [form.signature, `${form.signature}-previous`].flatMap((name) => form.read(headers[name] ?? ''))
}

function headFault(form: Form, headers: ReceivedWebhook['headers']): WebhookVerdict | undefined {
  const timestamp = headers[form.timestamp]
  if (timestamp === undefined) return fault('missing', form.timestamp, 'missing')
  if (!/^\d+$/.test(timestamp) || timestamp.length > MAX_TIMESTAMP_DIGITS)
    return fault('malformed', form.timestamp, 'must be Unix time in seconds')
  if (form.signature === 'webhook-signature' && !headers['webhook-id']) return fault('missing', 'webhook-id', 'missing')
  const isLong = (headers[form.signature]?.length ?? 0) > MAX_HEADER_CHARS
  return isLong ? fault('malformed', form.signature, 'too long') : undefined
}

function ageFault(form: Form, message: ReceivedWebhook): WebhookVerdict | undefined {
  const { headers, now, toleranceSeconds = WEBHOOK_TOLERANCE_SECONDS } = message
  const age = unixSeconds(now) - Number(headers[form.timestamp])
  if (Math.abs(age) <= toleranceSeconds) return undefined
  const when = age > 0 ? `${age} seconds ago` : `${-age} seconds in the future`
  return fault('stale', form.timestamp, `signed ${when}; the tolerance is ${toleranceSeconds} seconds`)
}

type Signed = Pick<ReceivedWebhook, 'headers' | 'body'> & { readonly secret: string }

export function signatureOf(form: Form, { headers, body, secret }: Signed): Buffer {
  return createHmac('sha256', form.key(secret)).update(form.prefix(headers)).update(body).digest()
}

function fault(kind: WebhookFault, header: string, what: string): WebhookVerdict {
  return { ok: false, fault: kind, header, message: `${header}: ${what}.` }
}
