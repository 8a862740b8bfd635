import type { AlarmTarget } from '../../../src/core/alarm-target.ts'
import { isLoopback } from '../../../src/core/loopback.ts'
import { compact } from '../../../src/core/record.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { web } from '../../kernel/web.ts'
import { openProgram, ProgramError } from '../../ports/program/program.ts'
import { sendOnce } from '../webhooks/send.ts'

/** Time limit for one message. */
const SEND_MS = 20 * SECOND_MS
const MAX_OUTPUT_BYTES = 64 * 1024
const SMTP_PORT = 587
const SMTPS_PORT = 465

export type AlarmMail = {
  readonly id: string
  readonly subject: string
  readonly text: string
  /** The message for programs. */
  readonly body: string
}

type Sending = { readonly secret: string; readonly signal: AbortSignal }
type Of<K extends AlarmTarget['kind']> = Extract<AlarmTarget, { kind: K }>

/** Sends a message within `SEND_MS`. @throws Error that says why it did not arrive */
export async function sendAlarm(ctx: Context, to: AlarmTarget, { mail, ...how }: Sending & { mail: AlarmMail }) {
  if (to.kind === 'webhook') return postTo(ctx, to, { mail, ...how })
  return to.kind === 'exec' ? runWith(to, mail, how.signal) : mailTo(to, mail, how.signal)
}

/** Any address is allowed, because the operator chose it. */
async function postTo(ctx: Context, { url }: Of<'webhook'>, { mail, secret, signal }: Sending & { mail: AlarmMail }) {
  const { clock } = ctx
  const sender = { web: { post: web.of(ctx).ask }, clock }
  const message = { url, eventId: mail.id, body: mail.body, secrets: [secret], signal, timeoutMs: SEND_MS }
  const { error } = await sendOnce(sender, message)
  if (error !== null) throw new Error(error)
}

const shell = openProgram('/bin/sh', { deadlineMs: SEND_MS, atOnce: 10, isOwn: true })

async function runWith({ command, shown }: Of<'exec'>, { body }: AlarmMail, signal: AbortSignal): Promise<void> {
  try {
    await shell.run({ args: ['-c', command], stdin: `${body}\n`, maxBytes: MAX_OUTPUT_BYTES, signal })
  } catch (error) {
    if (!(error instanceof ProgramError) || error.said === '') throw error
    throw new Error(`${shown}: ${error.said.trim().split('\n').at(-1)}`, { cause: error })
  }
}

async function mailTo({ url, from, to }: Of<'smtp'>, { id, subject, text }: AlarmMail, stop: AbortSignal) {
  const secure = url.protocol === 'smtps:'
  const auth = url.username === '' ? undefined : { user: decoded(url.username), pass: decoded(url.password) }
  const signal = AbortSignal.any([stop, AbortSignal.timeout(SEND_MS)])
  const { promise: late, reject } = Promise.withResolvers<never>()
  const onLate = () => reject(new Error(`the mail server did not answer within ${SEND_MS / SECOND_MS} s`))
  signal.addEventListener('abort', onLate, { once: true })
  try {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port) || (secure ? SMTPS_PORT : SMTP_PORT),
      secure,
      // A password never crosses a network in plain text.
      requireTLS: auth !== undefined && !isLoopback(url.hostname),
      ...compact({ auth }),
      ...{ connectionTimeout: SEND_MS, greetingTimeout: SEND_MS, socketTimeout: SEND_MS, dnsTimeout: SEND_MS },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    })
    await Promise.race([late, transport.sendMail({ from, to, subject, text, messageId: `<${id}@souk>` })])
  } finally {
    signal.removeEventListener('abort', onLate)
  }
}

const decoded = (part: string) => decodeURIComponent(part)
