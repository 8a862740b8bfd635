import type { WireAnswer } from '../../../api/index.ts'
import { CliError } from '../../exit.ts'
import type { Session } from '../../session.ts'

export type Listing = WireAnswer<'getService'>

export async function findListing(session: Session, id: string): Promise<Listing> {
  const listing = await session.call('getService', { params: { id } })
  // Do not accept a response with a listing that was not asked for.
  if (listing.id !== id) throw new CliError('failure', `The instance returned another service than ${id}.`)
  return listing
}
