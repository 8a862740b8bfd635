import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Child, startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { toolPath } from '../../fixtures/kit/tools.ts'
import { callsTo, signPayment } from '../../fixtures/market/marketplace.ts'
import { openNameServer } from '../ports/dns/dns.testkit.ts'

// @deep a daemon is started twice for each engine

/* The daemon is killed while an engine works for somebody: nobody pays for nothing, and nothing of it stays. */

const LOOK_MS = 5
const FUNDS = '1.00'
/** However slow the machine is, the payment outlives the restart. */
const SIGNED = { change: { validBefore: 4_102_444_800n } }
const words = 'Ducks live on ponds all over the town, and the council counts them every spring. '
const german = 'Die Enten leben auf den Teichen der Stadt, und der Rat zählt sie in jedem Frühling. '
const rows = Array.from({ length: 900 }, (_, at) => `<p>${at} ${words}</p>`).join('')

type Case = {
  readonly slug: string
  readonly input: Readonly<Record<string, unknown>>
  /** Words of the command line of what works; none: a thread of the daemon itself. */
  readonly program: RegExp | undefined
  readonly tools: readonly string[]
}
const cases: Readonly<Record<string, Case>> = {
  browser: {
    slug: 'pdf_generation',
    input: { html: rows },
    program: /chromium|headless/,
    tools: ['chromium-headless-shell'],
  },
  'espeak-ng': {
    slug: 'text_to_speech',
    input: { text: german.repeat(30) },
    program: /espeak-ng/,
    tools: ['espeak-ng'],
  },
  ffmpeg: {
    slug: 'text_to_speech',
    input: { text: german.repeat(30) },
    program: /ffmpeg/,
    tools: ['espeak-ng', 'ffmpeg'],
  },
  apertium: {
    slug: 'translation',
    input: { text: words.repeat(600), target_lang: 'es', source_lang: 'en' },
    program: /apertium|lt-proc/,
    tools: ['apertium'],
  },
  'a compute thread': {
    slug: 'summarization',
    input: { text: words.repeat(600) },
    program: undefined,
    tools: [],
  },
}

let dir: string
let temp: string
let child: (Child & { readonly url: string }) | undefined

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'souk-engine-kill-'))
  temp = join(dir, 'tmp')
  // A browser that root starts runs as nobody, in a folder below.
  await mkdir(temp, { mode: 0o711 })
})
afterEach(async () => {
  await child?.kill()
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
})

async function start(engines = {}, nodeArgs: string[] = []): Promise<string> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = temp
  try {
    const config = { ...configDefaults, dataDir: join(dir, 'data'), durability: 'full' } as const
    child = await startDaemon({ ...config, engines: { ...config.engines, ...engines } }, nodeArgs)
    return child.url
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

/** Processes below one, with their command lines. */
function below(root: number): { readonly pid: number; readonly line: string }[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = read(`/proc/${name}/stat`)
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && parent > 1 && (parent === root || isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow).map((pid) => ({ pid, line: read(`/proc/${pid}/cmdline`) }))
}

/** Empty for a process that ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`)
  return stat !== '' && !/\) [ZX] /.test(stat)
}

describe.each(Object.entries(cases))('SIGKILL while %s works', (_, { slug, input, program, tools }) => {
  it.skipIf(tools.some((tool) => toolPath(tool) === undefined))(
    'takes no money, leaves nothing, and the same payment buys it',
    async () => {
      let url = await start()
      const { call, admin } = callsTo(() => url, join(dir, 'data'))
      const payer = privateKeyToAccount(generatePrivateKey())
      const wallet = payer.address
      await admin('POST', '/dashboard/api/admin/faucet', { body: { wallet, amount: FUNDS } })
      // It is listed once its engine was found.
      const listed = async () => {
        const { body } = await call('GET', '/v1/services/catalog?limit=100')
        return body.services.find(({ slug: of }: { slug: string }) => of === slug)?.id
      }
      await expect.poll(listed).toBeDefined()
      const target = `/v1/services/${await listed()}/purchase`
      const offered = () => call('POST', target, { body: input })
      await expect.poll(async () => (await offered()).status).toBe(402)
      const offer = await offered()
      const price = Number(offer.body.accepts[0].maxAmountRequired) / 1_000_000
      const headers = { ...(await signPayment(payer, offer, SIGNED)), 'Idempotency-Key': 'kill' }

      const daemon = child?.pid ?? 0
      const idle = new Set(below(daemon).map(({ pid }) => pid))
      const lost = call('POST', target, { body: input, headers }).then(
        ({ status }) => status,
        () => 'lost',
      )
      const working = () => below(daemon).filter(({ pid, line }) => !idle.has(pid) && program?.test(line))
      if (program === undefined) await sleep(LOOK_MS)
      else while (working().length === 0) await sleep(LOOK_MS)
      const family = below(daemon).map(({ pid }) => pid)
      await child?.kill()
      expect(await lost).toBe('lost')
      await expect.poll(() => family.filter(isAlive)).toEqual([])

      url = await start()
      const again = async () => (await call('POST', target, { body: input, headers })).status
      await expect.poll(again).toBe(200)
      const { body: audit } = await admin('GET', '/dashboard/api/admin/audit')
      expect(audit.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
      const funds = await admin('POST', '/dashboard/api/admin/faucet', { body: { wallet, amount: '0.01' } })
      expect(Number(funds.body.balance)).toBeCloseTo(Number(FUNDS) + 0.01 - price, 6)
      await expect.poll(async () => (await readdir(temp)).filter((name) => name.startsWith('souk-'))).toEqual([])
    },
  )
})

describe('SIGKILL while somebody outside is asked for a job', () => {
  it('ends with the whole price back, when there is nothing to deliver after the restart', async () => {
    const asked: ServerResponse[] = []
    let isAnswering = false
    const answer = (res: ServerResponse) =>
      res.setHeader('content-type', 'application/json').end('{"errorcode":0,"data":{}}')
    const outside = createServer((req, res) => {
      req.resume()
      if (isAnswering) answer(res)
      else asked.push(res)
    }).listen(0, '127.0.0.1')
    await once(outside, 'listening')
    const engines = { grants: { url: `http://127.0.0.1:${(outside.address() as AddressInfo).port}` } }
    let url = await start(engines)
    const { call, admin } = callsTo(() => url, join(dir, 'data'))
    const payer = privateKeyToAccount(generatePrivateKey())
    const fund = (amount: string) =>
      admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: payer.address, amount } })
    await fund(FUNDS)
    const { body: catalog } = await call('GET', '/v1/services/catalog?limit=100')
    const { id } = catalog.services.find(({ slug }: { slug: string }) => slug === 'grant_application_checklist')
    const target = `/v1/services/${id}/purchase`
    const body = { opportunity_id: '350123' }
    const offer = await call('POST', target, { body })
    const bought = await call('POST', target, { body, headers: await signPayment(payer, offer) })
    expect(bought.status).toBe(200)
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    await child?.kill()

    isAnswering = true
    url = await start(engines)
    const balance = async () => Number((await fund('0.000001')).body.balance)
    await expect.poll(balance).toBeGreaterThanOrEqual(Number(FUNDS))
    const { body: audit } = await admin('GET', '/dashboard/api/admin/audit')
    expect(audit.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    outside.close()
    outside.closeAllConnections()
  })
})

describe('SIGKILL while a name server is asked', () => {
  it('takes no money, and the same payment buys the answer', async () => {
    const names = await openNameServer({ 'SOA pond.test': 'silent', 'A pond.test': [{ data: '192.0.2.1' }] })
    const imports = `import { setServers } from 'node:dns'; import { syncBuiltinESMExports } from 'node:module'`
    const resolver = `${imports}; setServers(['${names.server}']); syncBuiltinESMExports()`
    const asking = [`--import=data:text/javascript,${encodeURIComponent(resolver)}`]
    let url = await start({}, asking)
    const { call, admin } = callsTo(() => url, join(dir, 'data'))
    const payer = privateKeyToAccount(generatePrivateKey())
    const fund = (amount: string) =>
      admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: payer.address, amount } })
    await fund(FUNDS)
    const { body: catalog } = await call('GET', '/v1/services/catalog?limit=100')
    const { id } = catalog.services.find(({ slug }: { slug: string }) => slug === 'dns_health_audit')
    const target = `/v1/services/${id}/purchase`
    const body = { domain: 'pond.test' }
    const offer = await call('POST', target, { body })
    const headers = { ...(await signPayment(payer, offer, SIGNED)), 'Idempotency-Key': 'kill' }
    const lost = call('POST', target, { body, headers }).then(
      ({ status }) => status,
      () => 'lost',
    )
    await expect.poll(() => names.asked.length).toBeGreaterThan(0)
    await child?.kill()
    expect(await lost).toBe('lost')

    delete names.zone['SOA pond.test']
    url = await start({}, asking)
    expect(Number((await fund('0.000001')).body.balance)).toBeCloseTo(Number(FUNDS), 5)
    await expect.poll(async () => (await call('POST', target, { body, headers })).status).toBe(200)
    const { body: audit } = await admin('GET', '/dashboard/api/admin/audit')
    expect(audit.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    expect(Number((await fund('0.000001')).body.balance)).toBeCloseTo(Number(FUNDS) - 0.05, 5)
    await names.close()
  })
})
