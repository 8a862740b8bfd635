import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { bold, green } from '../../text/text.ts'
import type { CommandContext } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'

type Attempt = WireAnswer<Api['decideVerification']>
type Decision = 'approved' | 'rejected'
type Deciding = CommandContext<{ attempt: string }, { reason: string }>

/** Has the vendor of the sandbox decide. */
export async function decide(context: Deciding, decision: Decision): Promise<Attempt> {
  const { attempt } = context.args
  const session = await context.session()
  return session.call('decideVerification', {
    params: { id: attempt },
    body: { decision, reason: context.options.reason },
  })
}

export function showDecided({ attempt_id, status, participant_id, reason }: Attempt, io: Io): void {
  io.line(`${green('✓')} ${bold(attempt_id)} is ${status}   ${participant_id}`)
  if (reason !== null) io.line(`  ${reason}`)
}

export function showAttempt(
  { attempt_id, status, operator_name, expires_at, ended_at, reason }: Attempt,
  io: Io,
): void {
  const end = ended_at === null ? `ends ${expires_at}` : `ended ${ended_at}`
  io.line(`  attempt   ${attempt_id}   ${status}   ${end}`)
  if (operator_name !== null) io.line(`  operator  ${operator_name}`)
  if (reason !== null) io.line(`  reason    ${reason}`)
}

const TOKEN = /(?:^|\/verification\/consent\/)([0-9a-f]{64})$/

/** The token in what was given: itself, or the link that it is in. @throws CliError usage */
export function tokenIn(word: string): string {
  const token = TOKEN.exec(word)?.[1]
  if (token === undefined) throw usage('Not a consent link: give the consent_url of souk verify start.')
  return token
}
