/**
 * How an engine stands. `missing`: install something; `unconfigured`: give it a key or an address; `failing`: it is there
 * and does not work.
 */
export const engineStatuses = ['ok', 'missing', 'unconfigured', 'failing'] as const
export type EngineStatus = (typeof engineStatuses)[number]
