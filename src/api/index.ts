import { faucet, getLogs, streamEvents } from './admin.ts'
import type { Endpoint } from './endpoint.ts'
import { getJob } from './jobs.ts'
import { getParticipant, register } from './participants.ts'
import { getHealth, getOpenapi } from './platform.ts'
import { getCatalog, getService, purchaseService } from './services.ts'

/**
 * The contract: every row in one flat, ordered record. Literal paths stand before the
 * parameters that would shadow them. Server, health, description, client and tests fold over it.
 */
export const api = {
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
} as const satisfies Record<string, Endpoint>

export type Api = typeof api
export type RowName = keyof Api

export const rowNames = Object.keys(api) as RowName[]
