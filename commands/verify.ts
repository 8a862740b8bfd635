import type { WireAnswer } from '../src/api/index.ts'
import { andJson, defineCall, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { patienceMs } from '../src/cli/globals.ts'
import type { Io } from '../src/cli/io.ts'
import * as z from '../src/cli/params.ts'
import type { Session, SessionHost } from '../src/cli/session.ts'
import { bold, cyan, green } from '../src/text/text.ts'

type Attempt = WireAnswer<'decideVerification'>

function showDecided({ attempt_id, status, participant_id, reason }: Attempt, io: Io): void {
  io.line(`${green('✓')} ${bold(attempt_id)} is ${status}   ${participant_id}`)
  if (reason !== null) io.line(`  ${reason}`)
}

function showAttempt({ attempt_id, status, operator_name, expires_at, ended_at, reason }: Attempt, io: Io): void {
  const end = ended_at === null ? `ends ${expires_at}` : `ended ${ended_at}`
  io.line(`  attempt   ${attempt_id}   ${status}   ${end}`)
  if (operator_name !== null) io.line(`  operator  ${operator_name}`)
  if (reason !== null) io.line(`  reason    ${reason}`)
}

const TOKEN = /(?:^|\/verification\/consent\/)([0-9a-f]{64})$/

/** The token that the user typed, alone or in its link. @throws CliError `usage` */
function tokenIn(word: string): string {
  const token = TOKEN.exec(word)?.[1]
  if (token === undefined) throw usage('Not a consent link: give the consent_url that `souk verify start` printed.')
  return token
}

/** A decision on an attempt, as the verification vendor of the sandbox makes it. */
const deciding = {
  description: 'Needs the admin key of the instance. Outside the sandbox, the verification vendor decides.',
  args: z.object({ attempt: z.string().meta({ description: 'id of the attempt' }) }),
  options: z.object({ reason: z.string().meta({ description: 'reason, for the participant', value: 'text' }) }),
  view: showDecided,
}

export const verifyApprove = defineCall({
  name: 'verify approve',
  summary: 'approve an identity in the sandbox',
  ...deciding,
  examples: andJson('souk verify approve vat_0123456789abcdef --reason "Papers seen"'),
  asks: 'decideVerification',
  asked: ({ args, options }) => ({ params: { id: args.attempt }, body: { decision: 'approved' as const, ...options } }),
})

export const verifyConsent = defineCall({
  name: 'verify consent',
  summary: 'consent to a verification, as the responsible human',
  description: 'Submits the form on the page of the link, which works once. Asks for confirmation first.',
  args: z.object({ link: z.string().meta({ description: 'consent_url from `souk verify start`, or its token' }) }),
  options: z.object({
    operatorName: z.string().meta({ description: 'your name, for the verification vendor', value: 'name' }),
  }),
  examples: [
    `souk verify consent http://127.0.0.1:4020/verification/consent/${'0123456789abcdef'.repeat(4)} --operator-name "Ann Smith" --yes`,
    `souk verify consent ${'0123456789abcdef'.repeat(4)} --operator-name "Ann Smith" --yes --json`,
  ],
  asks: 'consentToVerification',
  asked: ({ args, options }) => ({
    body: { token: tokenIn(args.link), operator_name: options.operatorName, agree: true },
  }),
  confirms: ({ options }) => `${options.operatorName}: do you agree, as the person responsible for this participant?`,
  view({ attempt_id, status, message, vendor_url }, io) {
    io.line(`${green('✓')} ${bold(attempt_id)} is ${status}`)
    io.line(`  ${message}`)
    if (vendor_url !== null) io.line(`  continue  ${vendor_url}`)
  },
})

export const verifyReject = defineCall({
  name: 'verify reject',
  summary: 'reject an identity in the sandbox',
  ...deciding,
  examples: andJson('souk verify reject vat_0123456789abcdef --reason "Papers missing"'),
  asks: 'decideVerification',
  asked: ({ args, options }) => ({ params: { id: args.attempt }, body: { decision: 'rejected' as const, ...options } }),
})

export const verifyStart = defineCall({
  name: 'verify start',
  summary: 'start an identity verification',
  description: 'Prints a link for the human responsible for you. The link is shown once and expires after 24 hours.',
  examples: ['souk verify start', 'souk verify start --json'],
  asks: 'startVerification',
  view({ attempt_id, consent_url, expires_at }, io) {
    io.line(bold(consent_url))
    io.line(`  attempt   ${attempt_id}   ends ${expires_at}`)
    io.note(`  next      forward the link; then ${cyan(io.hint('souk verify status --watch'))}`)
  },
})

type Status = WireAnswer<'getVerificationStatus'>
const POLL_MS = 500

export const verifyStatus = defineCommand({
  name: 'verify status',
  summary: 'show your verification tier and current attempt',
  options: z.object({ watch: z.flag({ description: 'wait until the current attempt ends' }) }),
  examples: ['souk verify status', 'souk verify status --watch --json'],
  prints: 'getVerificationStatus',
  async run(context) {
    const session = await context.session()
    const status = context.options.watch ? await watched(context, session) : await read(session)
    if (context.options.watch && status.attempt !== null) context.exit('pending')
    return status
  },
  view({ verification_tier, attempt, last_attempt }, io) {
    io.line(bold(verification_tier))
    const shown = attempt ?? last_attempt
    if (shown) showAttempt(shown, io)
  },
})

async function read(session: Session): Promise<Status> {
  return session.call('getVerificationStatus', {})
}

/** Waits until the current attempt ends, or until the time of `--wait` is over. */
async function watched({ globals, io, signal, system }: SessionHost, session: Session): Promise<Status> {
  const limitMs = patienceMs(globals)
  using progress = io.progress('waiting for the verification')
  for (let waited = 0; ; waited += POLL_MS) {
    const status = await read(session)
    if (status.attempt === null || waited >= limitMs || signal.aborted) return status
    progress.update(`waiting for the verification: ${status.attempt.status}`)
    await system.sleep(POLL_MS, signal)
  }
}
