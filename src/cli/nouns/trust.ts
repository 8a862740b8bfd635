import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { isAddress } from '../../core/hex.ts'
import { CliError, usage } from '../exit.ts'
import type { Session } from '../session.ts'

export type ReputationAnswer = WireAnswer<Api['getReputation']>

const ID = /^p_[0-9a-f]{16}$/

/** The wallet that a word names: an address, or the id of a participant. @throws CliError usage */
export async function walletNamed(session: Session, word: string): Promise<string> {
  if (isAddress(word)) return word
  if (!ID.test(word)) throw usage(`${word} is no wallet: give 0x and 40 hex digits, or a participant id.`)
  const found = await session.call('getParticipant', { params: { id: word } })
  if (isAddress(found.wallet)) return found.wallet
  throw new CliError('failure', `The instance names no wallet of ${word}.`)
}
