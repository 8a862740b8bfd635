import type { TransportResponse } from '../../client/transport.ts'
import { given, type Session } from '../session.ts'

/** Asks for one's own records, all or some kinds of them. @throws AppError for what the instance refuses. */
export async function askExport(session: Session, only: string | undefined): Promise<TransportResponse> {
  return session.open('getExport', { query: given({ only }) })
}
