import type { CreateDaemon } from './run.ts'

/** The daemon itself, loaded only by the process that becomes it. */
export const createDaemon: CreateDaemon = async (config, options) => {
  const { createDaemon: create } = await import('../../daemon/index.ts')
  return create(config, options)
}
