import type { TransportResponse } from '../../client/transport.ts'
import { ownHeaders } from '../account.ts'
import { refusalOf, type Session } from '../session.ts'

/** Asks for one's own records, all or some kinds of them. @throws AppError for what the instance refuses. */
export async function askExport(session: Session, only: string | undefined): Promise<TransportResponse> {
  const query = only === undefined ? '' : `?only=${encodeURIComponent(only)}`
  const headers = { ...(await ownHeaders(session)), accept: '*/*' }
  const response = await session.transport({ method: 'GET', path: `/v1/export${query}`, headers })
  if (response.status === 200) return response
  throw await refusalOf(response)
}
