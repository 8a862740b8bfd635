import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { entries } from '../../commands/index.ts'
import type { DaemonDoor } from '../cli/door.ts'
import { realSystem } from '../cli/env.ts'
import { groups } from '../cli/run/groups.ts'
import { main } from '../cli/run/main.ts'

/*
 * The whole command line around a server that only knows /health: for tests of the life cycle that are about
 * processes, files and signals and not about the marketplace. Its name of a seed chooses how it fails.
 */
const createStub: DaemonDoor['createDaemon'] = async (config, { logTo }) => {
  if (config.seed === 'broken') throw new Error('the seed is broken')
  if (config.seed === 'silent') process.exit(3)
  const time = new Date(performance.timeOrigin).toISOString()
  const log = (msg: string) => logTo.write(`${JSON.stringify({ time, level: 'info', source: 'http', msg })}\n`)
  const instanceId = randomBytes(8).toString('hex')
  const server = createServer((request, response) => {
    log(request.url ?? '')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(health(instanceId)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      log('stopping')
      // A daemon that never ends, for the second signal and for SIGKILL.
      if (config.seed === 'stuck') await new Promise(() => undefined)
      server.close()
      server.closeAllConnections()
    },
  }
}

function health(instanceId: string) {
  const cron = { last_success: null, last_skipped: null, last_failure: null, age_seconds: null, stale: false }
  return {
    status: 'ok',
    paused: false,
    paused_at: null,
    checkout_v2: false,
    network: 'base',
    chain: { mode: 'sandbox' },
    timestamp: 0,
    instance_id: instanceId,
    crons: { reputation: cron },
    endpoints: [{ path: '/health', method: 'GET', price: 'free', description: 'health report', status: 'live' }],
  }
}

export const STUB_ENTRY = fileURLToPath(import.meta.url)

/** The daemon's own code, with the small server in the daemon's place. */
export const stubDoor = async (): Promise<DaemonDoor> => ({
  ...(await import('../../daemon/index.ts')),
  createDaemon: createStub,
})

if (process.argv[1] === STUB_ENTRY) {
  process.exitCode = await main(realSystem(STUB_ENTRY, stubDoor), { entries, groups })
}
