import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { entries } from '../../commands/index.ts'
import type { WireAnswer } from '../api/index.ts'
import type { DaemonDoor } from '../cli/door.ts'
import { realSystem } from '../cli/env.ts'
import { groups } from '../cli/run/groups.ts'
import { main } from '../cli/run/main.ts'

/*
 * The whole command line around a server that only knows /health: for tests of the life cycle that are about
 * processes, files and signals and not about the marketplace. The file `trouble` of its home says how it fails.
 */
const createStub: DaemonDoor['createDaemon'] = async (config, { logTo, onStep, prepare }) => {
  const file = join(homedir(), 'trouble')
  const trouble = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (trouble === 'broken') throw new Error('the seed is broken')
  if (trouble === 'silent') process.exit(3)
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
  const url = `http://127.0.0.1:${port}`
  await prepare(url)
  onStep('serve')
  return {
    url,
    instanceId,
    seed: config.seed ?? 'house',
    stop: async () => {
      log('stopping')
      // A daemon that never ends, for the second signal and for SIGKILL.
      if (trouble === 'stuck') await new Promise(() => undefined)
      server.close()
      server.closeAllConnections()
    },
  }
}

function health(instanceId: string) {
  const cron = { last_success: null, last_skipped: null, last_failure: null, age_seconds: null, stale: false }
  const wallet = `0x${'00'.repeat(20)}`
  return {
    status: 'ok',
    paused: false,
    paused_at: null,
    checkout_v2: false,
    service: 'stub',
    version: '0',
    instance_id: instanceId,
    network: 'base',
    pay_to: wallet,
    chain: { mode: 'sandbox', asset: wallet, name: 'USD Coin', version: '2' },
    timestamp: 0,
    crons: { reputation: cron },
    launch: { days: [], shelved_410_24h: {}, gate_refusals_24h: {} },
    compliance: {
      sdn: {
        last_updated: null,
        last_checked: null,
        source: 'none',
        ofac_publish_date: null,
        ofac_evm_count: 0,
        total: 0,
        added: 0,
        manual_only: 0,
        last_status: 'ok',
        stale: false,
      },
    },
    engines: {},
    store: { writes: 'accepted', journal_cut: null, note: null },
    platform: { description: '', status_note: '', status_legend: {}, catalog: '', register: '', docs: '' },
    referral_program: { enabled: false, description: '', how_to_refer: '', endpoints: [] },
    openapi_spec: '',
    bazaar: '',
    endpoints: [{ path: '/health', method: 'GET', price: 'free', description: 'health report', status: 'live' }],
  } satisfies WireAnswer<'getHealth'>
}

const STUB_ENTRY = fileURLToPath(import.meta.url)

/** The entry of the stub as a bundle, which starts in half the processor time of the sources. */
export async function bundleStub(outdir: string): Promise<string> {
  const { lightPart } = await import('../../bin/light-imports.ts')
  await build({
    entryPoints: { stub: STUB_ENTRY },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // Packages of CommonJS call it.
    banner: { js: "import{createRequire as ofModule}from'node:module';const require=ofModule(import.meta.url);" },
    external: ['react-devtools-core'],
    loader: { '.node': 'file' },
    logLevel: 'error',
    plugins: [
      {
        // Beside a bundle there are no files of commands to find.
        name: 'commands',
        setup: ({ onLoad }) =>
          onLoad({ filter: /commands.index\.ts$/ }, ({ path }) => ({
            contents: lightPart(path, '') ?? '',
            loader: 'ts',
          })),
      },
    ],
  })
  return join(outdir, 'stub.js')
}

/** The daemon's own code, with the small server in the daemon's place. */
export const stubDoor = async (): Promise<DaemonDoor> => ({
  ...(await import('../../daemon/index.ts')),
  createDaemon: createStub,
})

if (process.argv[1] === STUB_ENTRY) {
  process.exitCode = await main(realSystem(STUB_ENTRY, stubDoor), { entries, groups })
}
