import type { Handlers } from '../handler.ts'
import { faucet, getLogs, streamEvents } from './admin.ts'
import { getJob } from './jobs.ts'
import { getParticipant, register } from './participants.ts'
import { getHealth, getOpenapi } from './platform.ts'
import { purchaseService } from './purchases.ts'
import { getCatalog, getService } from './services.ts'

/** A handler for every row of the contract; the type is total, so a missing one does not compile. */
export const handlers: Handlers = {
  getCatalog,
  getService,
  purchaseService,
  register,
  getParticipant,
  getJob,
  getHealth,
  getOpenapi,
  faucet,
  streamEvents,
  getLogs,
}
