import { readFileSync } from 'node:fs'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { Duration } from '../../src/cli/params.ts'
import { headerIn } from '../../src/cli/split-words.ts'
import { keptListenSecret, webhookSecretOf } from '../../src/client/secrets.ts'
import { currentWallet } from '../../src/client/wallets.ts'
import { attempt } from '../../src/core/error.ts'
import { isObject } from '../../src/core/json.ts'
import {
  type ReceivedWebhook,
  signatureOf,
  signaturesIn,
  verifyWebhook,
  WEBHOOK_TOLERANCE_SECONDS,
  type WebhookVerdict,
  webhookForms,
} from '../../src/core/webhook-verify.ts'
import { bold, cyan, green, red } from '../../src/text/text.ts'

const MS_PER_SECOND = 1_000
const SECRETS_MAX = 10
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
const SECRET_VARIABLE = 'SOUK_WEBHOOK_SECRET'
/** A dump by `nc -l` or a proxy may start with the request line. */
const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/\d/

const options = z.object({
  body: z.string().default('-').meta({ description: 'file with the raw body, - for stdin', value: 'file' }),
  request: z.text({ description: 'file with the full request: headers, a blank line, the body', value: 'file' }),
  headers: z.list({ short: 'H', description: 'a received header', value: 'name: value' }),
  secretFile: z.text({
    description: `file with the secret; after a rotation one per line (default: $${SECRET_VARIABLE}, else the saved one)`,
    value: 'file',
  }),
  at: z
    .string()
    .regex(ISO_TIME, 'must be a time such as 2026-01-01T12:00:00Z')
    .optional()
    .meta({ description: 'time when the webhook arrived (default: now)', value: 'time' }),
  tolerance: Duration.default(WEBHOOK_TOLERANCE_SECONDS * MS_PER_SECOND).meta({
    description: "largest difference between the webhook's timestamp and its arrival",
    value: 'duration',
  }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

export const command = defineCommand({
  name: 'webhooks verify',
  summary: 'check the signature of a received webhook, and explain a failure',
  description:
    'Needs the body, the headers and the secret. A failure is explained, with exit code 11: wrong secret, added white space, re-serialised JSON, old timestamp, other scheme or truncated header. The secret is never read from a flag.',
  options,
  examples: [
    'souk webhooks verify --request request.txt',
    'souk webhooks verify --secret-file secret.txt --request request.txt --tolerance 1h',
    'souk webhooks verify --secret-file secret.txt --request request.txt --tolerance 1d --json',
  ],
  async run(context) {
    const { options: given, system, exit } = context
    const message = await messageOf(context)
    const explained = explainWebhook({
      ...message,
      secrets: await secretsOf(context),
      now: given.at === undefined ? system.now() : Date.parse(given.at),
      toleranceSeconds: Math.floor(given.tolerance / MS_PER_SECOND),
    })
    if (!explained.ok) exit('check_failed')
    return explained
  },
  view(found, io) {
    if (found.ok) {
      const when = new Date(found.timestamp * MS_PER_SECOND).toISOString()
      io.line(`${green('✓')} valid signature${found.id === '' ? '' : `   ${bold(found.id)}`}   ${when}`)
      return
    }
    io.line(`${red('✗')} ${bold(found.fault)}   ${found.message}`)
    io.line(`  ${found.advice}`)
    io.note(`  every try at your endpoints: ${cyan(io.hint('souk webhooks tail'))}`)
  },
})

type Message = { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array }

async function messageOf(context: Context): Promise<Message> {
  const { request, body, headers } = context.options
  const typed = Object.fromEntries(headers.map(headerOf))
  if (request === undefined) return { headers: typed, body: await bytesOf(context, body) }
  const whole = await bytesOf(context, request)
  const { head, rest } = splitRequest(whole)
  const lines = head.split(/\r?\n/).filter((line) => line !== '' && !REQUEST_LINE.test(line))
  return { headers: { ...Object.fromEntries(lines.map(headerOf)), ...typed }, body: rest }
}

/** Splits bytes, not text: the signature also covers bytes that are not valid UTF-8. */
function splitRequest(whole: Buffer): { head: string; rest: Uint8Array } {
  const ends = ['\r\n\r\n', '\n\n'].map((gap) => ({ gap, at: whole.indexOf(gap) })).filter(({ at }) => at >= 0)
  const [end] = ends.toSorted((a, b) => a.at - b.at)
  if (end === undefined) throw usage('The request has no blank line between its headers and its body.')
  return { head: whole.subarray(0, end.at).toString('latin1'), rest: whole.subarray(end.at + end.gap.length) }
}

function headerOf(line: string): [string, string] {
  const [name, value] = headerIn(line)
  return [name.toLowerCase(), value]
}

async function bytesOf({ io }: Context, file: string): Promise<Buffer> {
  return file === '-' ? Buffer.from(await io.stdin()) : readFile(file)
}

function readFile(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Reads the secrets without trimming them: whitespace in a secret is a common mistake, which the command reports. */
async function secretsOf(context: Context): Promise<readonly string[]> {
  const { secretFile } = context.options
  const text = secretFile === undefined ? context.system.env[SECRET_VARIABLE] : readFile(secretFile).toString('utf8')
  const secrets = text?.split('\n').filter((line) => line.trim() !== '') ?? (await keptSecrets(context))
  if (secrets.length > 0 && secrets.length <= SECRETS_MAX) return secrets
  const given = secretFile === undefined ? `$${SECRET_VARIABLE}` : secretFile
  const sentence =
    text === undefined
      ? 'No webhook secret is saved for this account.'
      : `${given} must contain 1 to ${SECRETS_MAX} secrets, one per line.`
  throw usage(sentence, { next: ['souk webhooks secret --rotate', '… --secret-file FILE'] })
}

/** Saved secrets: of the account, and of `listen`. */
async function keptSecrets(context: Context): Promise<readonly string[]> {
  const listening = keptListenSecret(context.places)
  const wallet = currentWallet(context.places, context.globals.as)
  const own = wallet && webhookSecretOf(context.places, (await context.session()).target.instance, wallet.address)
  return [own, listening].filter((one) => one !== undefined)
}

/** First members of every message, in order. */
const FIRST_MEMBERS = ['type', 'event_id', 'created_at']

type WebhookExplained =
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

/** Verifies a message; for a signature that does not match, finds the likely reason. */
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
  if (isPadded(body, (guess) => isSigned(guess, message.secrets))) {
    const said = 'The body has extra white space, a line break or a byte order mark at its start or end.'
    return { fault: 'body', message: said, advice: 'Verify the raw bytes, before any parsing.' }
  }
  if (isRewritten(body)) {
    return {
      fault: 'rewritten',
      message: 'The body was parsed and serialised again, which changes spaces or field order.',
      advice: 'Use the raw body (express.raw, request.text()), not a re-serialised object.',
    }
  }
  return {
    fault: 'secret',
    message: 'The secret probably belongs to another account or endpoint; else the body was changed on its way.',
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

/** Whether the body got or lost white space at its ends, or other line breaks. */
function isPadded(body: Buffer, isSigned: (guess: Uint8Array) => boolean): boolean {
  const text = body.toString('utf8')
  const whole = [text.trimEnd(), `${text}\n`, text.replaceAll('\r\n', '\n'), text.replace(/^\uFEFF/, '')]
  return whole.some((guess) => guess !== text && isSigned(Buffer.from(guess)))
}

function isRewritten(body: Buffer): boolean {
  const text = body.toString('utf8')
  const compact = attempt(() => JSON.stringify(JSON.parse(text)))
  if (compact === undefined) return false
  if (compact !== text) return true
  const value: unknown = JSON.parse(text)
  return isObject(value) && FIRST_MEMBERS.some((name, i) => Object.keys(value)[i] !== name)
}
