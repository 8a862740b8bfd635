import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { patienceMs } from '../../src/cli/globals.ts'
import { showAttempt } from '../../src/cli/nouns/verification.ts'
import * as z from '../../src/cli/params.ts'
import type { Session, SessionHost } from '../../src/cli/session.ts'
import { bold } from '../../src/text/text.ts'

type Status = WireAnswer<Api['getVerificationStatus']>
const POLL_MS = 500

export const command = defineCommand({
  name: 'verify status',
  summary: 'show your verification tier and current attempt',
  options: z.object({
    watch: z.boolean().default(false).meta({ description: 'wait until the current attempt ends' }),
  }),
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

/** Until it has ended, or the time given to `--wait` has. */
async function watched({ globals, io, signal, system }: SessionHost, session: Session): Promise<Status> {
  const limitMs = patienceMs(globals)
  const progress = io.progress('waiting for the verification')
  try {
    for (let waited = 0; ; waited += POLL_MS) {
      const status = await read(session)
      if (status.attempt === null || waited >= limitMs || signal.aborted) return status
      progress.update(`waiting for the verification: ${status.attempt.status}`)
      await system.sleep(POLL_MS, signal)
    }
  } finally {
    progress.stop()
  }
}
