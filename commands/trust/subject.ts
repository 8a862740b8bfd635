import type { WireAnswer } from '../../src/api/endpoint.ts'
import type { Api } from '../../src/api/index.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import type { Session } from '../../src/cli/session.ts'
import { isAddress } from '../../src/core/hex.ts'

export type Verdict = WireAnswer<Api['getReputation']>

const ID = /^p_[0-9a-f]{16}$/

/** The wallet that a word names: an address, or the id of a participant. @throws CliError usage */
export async function walletNamed(session: Session, word: string): Promise<string> {
  if (isAddress(word)) return word
  if (!ID.test(word)) throw usage(`${word} is no wallet: give 0x and 40 hex digits, or a participant id.`)
  const path = '/v1/participants/:id'
  const found = await session.row('getParticipant', { method: 'GET', path, params: { id: word } })
  if (isAddress(found.wallet)) return found.wallet
  throw new CliError('failure', `The instance names no wallet of ${word}.`)
}
