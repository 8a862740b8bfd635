import { isObject } from './json.ts'
import {
  type ReceivedWebhook,
  signatureOf,
  signaturesIn,
  verifyWebhook,
  type WebhookVerdict,
  webhookForms,
} from './webhook-verify.ts'

/** Largest body that is searched for one changed byte; each guess costs a digest. */
const MAX_SEARCHED_BYTES = 4_096
const MAX_GUESSES = 400_000
/** Printable ASCII and newline. */
const LIKELY_BYTES = [0x0a, ...Array.from({ length: 0x7f - 0x20 }, (_, i) => 0x20 + i)]
/** First members of every message, in order. */
const FIRST_MEMBERS = ['type', 'event_id', 'created_at']

export type WebhookExplained =
  | Extract<WebhookVerdict, { ok: true }>
  | (Omit<Extract<WebhookVerdict, { ok: false }>, 'fault'> & {
      readonly fault:
        | Exclude<Extract<WebhookVerdict, { ok: false }>['fault'], 'mismatch'>
        | 'body'
        | 'rewritten'
        | 'secret'
      readonly advice: string
    })

type Mismatch = Extract<WebhookVerdict, { ok: false }>

const advice: Readonly<Record<Exclude<Mismatch['fault'], 'mismatch'>, string>> = {
  missing: 'Check the headers of the raw request; a proxy or framework may have removed some.',
  malformed: 'Pass the header unchanged.',
  scheme: 'Verify webhook-signature or x-webhook-signature as received; this marketplace signs both with HMAC-SHA256.',
  truncated: 'The header was truncated: check for a length limit, or a split at "=" or ",".',
  stale: 'Resend the message, which then gets a new timestamp and signature, or check the clock of the receiver.',
}

/** Verifies a message; for a signature that does not match, finds the likely reason. Takes up to a second. */
export function explainWebhook(message: ReceivedWebhook): WebhookExplained {
  const verdict = verifyWebhook(message)
  if (verdict.ok) return verdict
  const { fault } = verdict
  if (fault !== 'mismatch') return { ...verdict, fault, advice: advice[fault] }
  return { ...verdict, ...reasonOf(verdict, message) }
}

type Reason = { readonly fault: 'body' | 'rewritten' | 'secret'; readonly message: string; readonly advice: string }

function reasonOf({ header }: Mismatch, message: ReceivedWebhook): Reason {
  const body = Buffer.from(message.body)
  const isSigned = signedBy(header, message)
  const spelled = message.secrets.flatMap(spellings).find((secret) => isSigned(body, [secret]))
  if (spelled !== undefined) {
    const said = 'The secret has surrounding whitespace, or was copied incompletely.'
    return { fault: 'secret', message: said, advice: 'Use the secret as the account shows it, including whsec_.' }
  }
  const changed = changeOf(body, (guess) => isSigned(guess, message.secrets))
  if (changed !== undefined)
    return { fault: 'body', message: changed, advice: 'Verify the raw bytes, before any parsing.' }
  if (isRewritten(body)) {
    return {
      fault: 'rewritten',
      message: 'The body was parsed and serialised again, which changes spaces or field order.',
      advice: 'Use the raw body (express.raw, request.text()), not a re-serialised object.',
    }
  }
  return {
    fault: 'secret',
    message: 'The body looks unchanged: the secret probably belongs to another account or endpoint.',
    advice:
      'Use the secret of the account that owns the endpoint; after a rotation the old one stays valid for 24 hours.',
  }
}

/** Returns a function that checks whether the received signature fits a given body and secrets. */
function signedBy(header: string, { headers }: ReceivedWebhook) {
  const form = webhookForms.find(({ signature }) => signature === header)
  const given = form === undefined ? [] : signaturesIn(form, headers)
  return (body: Uint8Array, secrets: readonly string[]): boolean =>
    form !== undefined &&
    secrets.some((secret) => {
      const right = signatureOf(form, { headers, body, secret })
      return given.some((one) => one.equals(right))
    })
}

function spellings(secret: string): string[] {
  const trimmed = secret.trim()
  const bare = trimmed.replace(/^whsec_/, '')
  return [trimmed, bare, `whsec_${bare}`, trimmed.replace(/^["']|["']$/g, '')].filter((one) => one !== secret)
}

/** Describes a small difference from the signed body; undefined if none is found. */
function changeOf(body: Buffer, isSigned: (guess: Uint8Array) => boolean): string | undefined {
  const text = body.toString('utf8')
  const whole = [text.trimEnd(), `${text}\n`, text.replaceAll('\r\n', '\n'), text.replace(/^\uFEFF/, '')]
  if (whole.some((guess) => guess !== text && isSigned(Buffer.from(guess))))
    return 'The body has extra white space, a line break or a byte order mark at its start or end.'
  const compact = compacted(text)
  if (compact !== undefined && compact !== text && isSigned(Buffer.from(compact))) return undefined
  if (body.length > MAX_SEARCHED_BYTES) return undefined
  let guesses = 0
  for (const { guess, what } of oneByteAway(body)) {
    guesses += 1
    if (guesses > MAX_GUESSES) return undefined
    if (isSigned(guess)) return `The body was changed: ${what}.`
  }
  return undefined
}

function* oneByteAway(body: Buffer): Generator<{ readonly guess: Buffer; readonly what: string }> {
  for (let at = 0; at < body.length; at += 1) {
    const guess = Buffer.concat([body.subarray(0, at), body.subarray(at + 1)])
    yield { guess, what: `byte ${at} was inserted` }
  }
  for (let at = 0; at <= body.length; at += 1) {
    const longer = Buffer.concat([body.subarray(0, at), Buffer.alloc(1), body.subarray(at)])
    const other = Buffer.from(body)
    for (const byte of LIKELY_BYTES) {
      longer[at] = byte
      yield { guess: longer, what: `byte ${at} was removed` }
      if (at === body.length || body[at] === byte) continue
      other[at] = byte
      yield { guess: other, what: `byte ${at} differs` }
    }
  }
}

function compacted(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return undefined
  }
}

function isRewritten(body: Buffer): boolean {
  const text = body.toString('utf8')
  const compact = compacted(text)
  if (compact === undefined) return false
  if (compact !== text) return true
  const value: unknown = JSON.parse(text)
  return isObject(value) && FIRST_MEMBERS.some((name, i) => Object.keys(value)[i] !== name)
}
