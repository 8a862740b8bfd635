import type { WireAnswer } from '../../api/index.ts'
import { type Brief, briefOf, readHealth } from '../../cli/nouns/health.ts'
import type { Session } from '../../cli/session.ts'
import type { FoundDaemon } from '../../client/discover.ts'
import { RECOVERY_METRIC } from '../../model/payment.ts'
import { startWords } from '../../model/start.ts'
import { span } from '../../text/text.ts'
import { hasStore, isInDatabase } from '../restore.ts'
import { type Diagnosis, type Examination, type Examined, fine, type LookBounds, type PartDiagnosis } from './check.ts'

const CLOCK_SKEW_MAX_MS = 2_000
const DISPUTES_SHOWN = 100

type AttentionKind = WireAnswer<'getAttention'>['items'][number]['kind']

/** For each check: the kinds of attention items that it reports, and its text if there are no such items. */
const attended: Readonly<Record<string, { readonly kinds: readonly AttentionKind[]; readonly none: string }>> = {
  webhooks: { kinds: ['delivery', 'endpoint'], none: 'messages arrive' },
  chain: { kinds: ['chain', 'reversed', 'hot_balance'], none: 'it responds, and its balance matches the books' },
  payouts: { kinds: ['payout'], none: 'no open problems' },
  jobs: { kinds: ['overdue', 'unserved_period'], none: 'none is overdue' },
  journal: { kinds: ['disk', 'journal'], none: 'writes are accepted' },
  platform: { kinds: ['platform', 'escrow'], none: 'nothing is paused' },
  upkeep: { kinds: ['alarm', 'certificate', 'backup'], none: 'alarms arrive; certificate and backup are recent' },
}

export const runningProbes: readonly Examination[] = [
  { id: 'version', look: versionOf },
  { id: 'store', look: async (host) => fine((await healthOf(host)).store?.note ?? (await rowsOf(host))) },
  { id: 'clock', look: clockOf },
  { id: 'crons', look: cronsOf },
  { id: 'books', look: booksOf },
  { id: 'disputes', look: disputesOf },
  { id: 'sanctions', look: sanctionsOf },
  { id: 'signatures', look: signaturesOf },
  { id: 'prices', look: pricesOf },
  { id: 'engines', look: enginesOf, parts: eachEngine },
  ...Object.entries(attended).map(([id, { kinds, none }]) => ({
    id,
    look: (host: Examined) => attentionOf(host, kinds, none),
  })),
]

export const stoppedProbes: readonly Examination[] = [
  { id: 'store', look: storeOf },
  { id: 'files', look: filesOf },
]

export const daemonProbe: Examination = { id: 'daemon', look: (_, found) => daemonOf(found) }

function daemonOf(found: FoundDaemon): Diagnosis {
  switch (found.state) {
    case 'absent':
      return { status: 'warning', detail: 'not running', fix: 'souk up' }
    case 'stale':
      return { status: 'problem', detail: 'it crashed or was killed', fix: 'souk restart' }
    case 'starting':
      if (found.registration.step === 'front') return fine(startWords(found.registration))
      return { status: 'warning', detail: `starting: ${startWords(found.registration)}`, fix: 'souk status' }
    case 'unresponsive':
      return { status: 'problem', detail: 'it is running, but does not respond', fix: 'souk restart' }
    case 'running':
      return fine(`pid ${found.registration.pid}, ${found.registration.url}`)
  }
}

async function storeOf(host: Examined): Promise<Diagnosis> {
  if (!hasStore(host)) return fine('none yet')
  if (isInDatabase(host)) return fine('in a PostgreSQL database')
  try {
    const { records, seq, damagedBlobs } = await (await host.system.daemon()).verifyData(host.places.data)
    if (damagedBlobs.length > 0) return { status: 'problem', detail: `${damagedBlobs.length} stored files are damaged` }
    return fine(`${records} records, transaction ${seq}`)
  } catch (error) {
    return {
      status: 'problem',
      detail: error instanceof Error ? error.message : String(error),
      fix: 'souk doctor --repair',
    }
  }
}

/** Looks for stored files that no record names, and for records whose file is missing. */
async function filesOf(host: Examined): Promise<Diagnosis> {
  if (!hasStore(host)) return fine('none yet')
  if (isInDatabase(host)) return fine('in a PostgreSQL database')
  const door = await host.system.daemon()
  const { places } = host
  try {
    const { blobs, unnamedBlobs, missingBlobs } = await door.verifyData(places.data)
    const orphans = `${unnamedBlobs.length} unreferenced files`
    if (missingBlobs.length > 0) {
      const more = unnamedBlobs.length === 0 ? '' : `; ${orphans}`
      return {
        status: 'problem',
        detail: `${missingBlobs.length} files are missing, such as ${missingBlobs[0]}${more}`,
        fix: 'souk snapshots list',
      }
    }
    if (unnamedBlobs.length === 0) return fine(`${blobs}, all referenced by records`)
    return {
      status: 'warning',
      detail: orphans,
      fix: 'souk doctor --fix --only files',
      mend: async () => `removed ${await door.tidyData(places.data)} unreferenced files`,
    }
  } catch {
    return fine('not checked: the store does not open')
  }
}

async function versionOf(host: Examined): Promise<Diagnosis> {
  const { version } = await readHealth(await host.session())
  if (version === host.system.version) return fine(version)
  return { status: 'warning', detail: `the daemon is ${version}, this is ${host.system.version}`, fix: 'souk restart' }
}

async function clockOf(host: Examined): Promise<Diagnosis> {
  const session = await host.session()
  const skew = Math.abs((await readHealth(session)).timestamp - host.system.now())
  if (skew > CLOCK_SKEW_MAX_MS) {
    return { status: 'warning', detail: `the daemon's clock differs by ${span(skew)} from this machine's` }
  }
  const { now, wall } = await session.call('getClock', {})
  const ahead = Date.parse(now) - Date.parse(wall)
  if (Math.abs(ahead) <= CLOCK_SKEW_MAX_MS) return fine('agrees')
  const detail = `agrees; business time was moved ${span(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'back'}`
  return { status: 'warning', detail, fix: 'souk clock show' }
}

const healthOf = async (host: Examined): Promise<Brief> => briefOf(await readHealth(await host.session()))

async function cronsOf(host: Examined): Promise<Diagnosis> {
  const { crons } = await healthOf(host)
  const failing = [...crons.failing, ...crons.stale]
  if (failing.length === 0) return fine(cronsDetail(crons))
  return { status: 'problem', detail: failing.join(', '), fix: 'souk logs --source cron --level error' }
}

function cronsDetail({ ok, waiting }: Brief['crons']): string {
  const ran = ok.length === 0 && waiting.length > 0 ? [] : [`${ok.length} ok`]
  return [...ran, ...(waiting.length === 0 ? [] : [`${waiting.length} not run yet`])].join(', ')
}

async function booksOf(host: Examined): Promise<Diagnosis> {
  const { checks, transactions } = await (await host.session()).call('getAudit', {})
  const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name)
  if (wrong.length === 0) return fine(`${transactions} transactions add up`)
  return { status: 'problem', detail: wrong.join(', '), fix: 'souk money audit' }
}

async function disputesOf(host: Examined): Promise<Diagnosis> {
  const session: Session = await host.session()
  const query = { status: 'disputed', limit: String(DISPUTES_SHOWN) } as const
  const { jobs, total } = await session.call('listAllJobs', { query })
  const waiting = jobs.flatMap(({ dispute }) => (dispute?.decision?.by === 'operator' ? [dispute.opened_at] : []))
  const oldest = waiting.toSorted()[0]
  if (oldest === undefined) return fine('none needs a ruling')
  const count = total > jobs.length ? `at least ${waiting.length}` : String(waiting.length)
  const detail = `${count} need your ruling, the oldest since ${oldest}`
  return { status: 'warning', detail, fix: 'souk admin jobs list --status disputed' }
}

async function sanctionsOf(host: Examined): Promise<Diagnosis> {
  const session = await host.session()
  const { sdn } = (await readHealth(session)).compliance
  const { items } = await session.call('getAttention', {})
  const stale = items.find(({ kind }) => kind === 'sanctions_list')
  if (stale) return { status: 'warning', detail: stale.sentence, fix: stale.fix }
  const age =
    sdn.last_updated === null ? 'never renewed' : `${span(host.system.now() - Date.parse(sdn.last_updated))} old`
  return fine(`${sdn.total} addresses, ${age}`)
}

const metricsOf = async (host: Examined): Promise<string> =>
  (await (await host.session()).open('getMetrics', {})).text()

const MB = 1_000_000

async function rowsOf(host: Examined): Promise<string> {
  const text = await metricsOf(host)
  const read = (name: string) => Number(new RegExp(`^souk_${name} (\\S+)$`, 'm').exec(text)?.[1])
  const [bytes, reflected, last] = ['disk_bytes', 'disk_transactions', 'transactions'].map((name) =>
    read(`store_${name}`),
  ) as [number, number, number]
  if (Number.isNaN(bytes)) return 'in files, all rows in memory'
  const front = `${last - reflected} newer transactions (${read('store_front_changes')} rows) in memory and journal`
  return `in files, rows on disk: ${(bytes / MB).toFixed(1)} MB up to transaction ${reflected}, ${front}`
}

/** Listings whose fee does not pay the gas of a sale. */
async function pricesOf(host: Examined): Promise<Diagnosis> {
  const { below, eth_price: price } = await (await host.session()).call('getChainCosts', {})
  const [first] = below
  if (first === undefined)
    return fine(price === null ? 'not compared with gas: no --eth-price' : 'every fee pays its gas')
  const detail = `${below.length} listings cost more gas than their fee, such as "${first.name}" below $${first.break_even}`
  return { status: 'warning', detail, fix: 'souk chain costs' }
}

async function signaturesOf(host: Examined): Promise<Diagnosis> {
  const [, engine] = new RegExp(`^${RECOVERY_METRIC}\\{engine="(\\w+)"`, 'm').exec(await metricsOf(host)) ?? []
  return fine(
    `signers are recovered by ${engine === 'native' ? 'native code' : 'WebAssembly (three times slower than native code)'}`,
  )
}

async function enginesOf(host: Examined): Promise<Diagnosis> {
  const { engines } = await (await host.session()).call('listEngines', {})
  const troubled = engines.filter(({ status }) => status === 'missing' || status === 'failing')
  const waiting = new Set(troubled.flatMap(({ functions }) => functions))
  if (troubled.length === 0) return fine('all engines are available')
  return {
    status: 'warning',
    detail: `missing or failing: ${troubled.map(({ name }) => name).join(', ')}; not offered: ${[...waiting].join(', ') || 'nothing'}`,
    fix: 'souk services list',
  }
}

/** With `online`, each external API is asked; otherwise only the known status is reported. */
async function eachEngine(host: Examined, { online }: LookBounds): Promise<readonly PartDiagnosis[]> {
  const session = await host.session()
  const { engines } = await (online ? session.call('checkEngines', {}) : session.call('listEngines', {}))
  return engines.map(({ name, status, detail, fix, reached }) => {
    const isWell = (status === 'ok' || status === 'unconfigured') && reached?.ok !== false
    const seen = reached === null ? '' : ` ${reached.detail}`
    const words = status === 'ok' ? detail : `${status}: ${detail}${fix === null ? '' : ` It comes by: ${fix}.`}`
    return { part: name, status: isWell ? 'ok' : 'warning', detail: `${words}${seen}` }
  })
}

async function attentionOf(host: Examined, kinds: readonly AttentionKind[], none: string): Promise<Diagnosis> {
  const { items } = await (await host.session()).call('getAttention', {})
  const found = items.filter(({ kind }) => kinds.includes(kind))
  const [first] = found.toSorted((a, b) => Number(b.grave) - Number(a.grave))
  if (first === undefined) return fine(none)
  const more = found.length === 1 ? '' : ` (and ${found.length - 1} more)`
  return { status: first.grave ? 'problem' : 'warning', detail: `${first.sentence}${more}`, fix: first.fix }
}
