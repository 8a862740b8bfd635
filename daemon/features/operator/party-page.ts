import { invalidField } from '../../../src/core/error.ts'
import type { PartyRole } from '../../../src/model/party.ts'
import { ownIds } from '../../kernel/parties.ts'
import { participants } from '../../kernel/rows.ts'
import { offsetPage } from '../../store/offset-page.ts'
import type { Collection, ReadTx, Row } from '../../store/port.ts'
import type { threadParties } from '../threads/rows.ts'

type Asked = {
  readonly participant?: string | undefined
  readonly role?: PartyRole | undefined
  readonly status?: string | undefined
  readonly limit: number
  readonly offset: number
}
type Of<R extends Row> = { readonly rows: Collection<R>; readonly parties: typeof threadParties }

/**
 * A slice of everybody's jobs or conversations, by party and status; `rows` has the indexes `newest` and `status`.
 * @throws AppError invalid_request for a role without the participant who has it.
 */
export async function partyPage<R extends Row>(t: ReadTx, of: Of<R>, asked: Asked) {
  const { participant, role, status, ...slice } = asked
  if (participant !== undefined) {
    const wallet = (await t.table(participants).get(participant))?.wallet ?? participant
    const own = await ownIds(t, of.parties, { wallet, role, status, ...slice })
    return { rows: await t.table(of.rows).getMany(own.ids), total: own.total }
  }
  if (role !== undefined) throw invalidField('role', 'says what the participant is: name one')
  return status === undefined
    ? offsetPage(t.table(of.rows), { index: 'newest', prefix: [], ...slice })
    : offsetPage(t.table(of.rows), { index: 'status', prefix: [status], ...slice })
}
