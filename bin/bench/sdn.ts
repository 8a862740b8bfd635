import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { link, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Child, launch } from './child.ts'
import { figure, type Measured } from './report.ts'

const ROUNDS = 3
const FILE_BYTES = 100 * 1024 * 1024
/** One entry in this many has an address, as in the published list. */
const ENTRIES_AN_ADDRESS = 200
const MEMORY_BUDGET_MB = 220
const CATALOG_P99_BUDGET_MS = 100
const WARM_UPS = 200
const P99 = 0.99
/** How long the catalog is asked with nothing else to do, for comparison. */
const ALONE_MS = 2_000
const BYTES_A_MEGABYTE = 1024 * 1024
const MILLISECONDS_A_SECOND = 1_000

type Round = Readonly<Record<'seconds' | 'growthMb' | 'aloneP99Ms' | 'p50Ms' | 'p99Ms', number>>

/** A sanctions list of 100 MB is refreshed while the daemon answers. */
export async function sdn(): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-bench-sdn-'))
  try {
    const large = join(folder, 'large.xml')
    const { entries, addresses } = await writeList(large)
    const rounds: Round[] = []
    while (rounds.length < ROUNDS) rounds.push(await measure(folder, large))
    const p50s = rounds.map(({ p50Ms }) => figure(p50Ms)).join(', ')
    return [
      {
        name: 'refresh of a 100 MB sanctions list while answering',
        values: rounds.map(({ seconds }) => seconds),
        unit: 's',
        budget: { informs: true },
        detail: `${entries} entries, ${addresses} addresses; catalog p50 meanwhile ${p50s} ms`,
      },
      {
        name: 'memory that it takes at most',
        values: rounds.map(({ growthMb }) => growthMb),
        unit: 'MB',
        budget: { atMost: MEMORY_BUDGET_MB },
      },
      {
        name: 'catalog p99 meanwhile',
        values: rounds.map(({ p99Ms }) => p99Ms),
        unit: 'ms',
        budget: { atMost: CATALOG_P99_BUDGET_MS },
        detail: `p99 before it ${rounds.map(({ aloneP99Ms }) => figure(aloneP99Ms)).join(', ')} ms`,
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** In a daemon of its own: what the first refresh leaves behind would hide what the second one takes. */
async function measure(folder: string, large: string): Promise<Round> {
  const source = join(folder, 'SDN.XML')
  await rm(source, { force: true })
  await writeFile(source, listText(1))
  const daemon = await launch('serve-daemon.ts', { wallets: [], sdnSource: source })
  try {
    for (let n = 0; n < WARM_UPS; n += 1) await catalog(daemon, n)
    const aloneP99Ms = at(await answersDuring(daemon, delay(ALONE_MS)), P99)
    // In the place of the small list, at once.
    await link(large, `${source}.next`)
    await rename(`${source}.next`, source)
    const before = await daemon.memory()
    const started = performance.now()
    const run = refresh(daemon)
    const times = await answersDuring(daemon, run)
    const seconds = (performance.now() - started) / MILLISECONDS_A_SECOND
    const { most } = await daemon.memory()
    return {
      seconds,
      growthMb: (most - before.now) / BYTES_A_MEGABYTE,
      aloneP99Ms,
      p50Ms: at(times, 1 / 2),
      p99Ms: at(times, P99),
    }
  } finally {
    await daemon.stop()
  }
}

/** Pages that nobody asked for before, so that each is made. */
async function catalog({ ready }: Child, n: number): Promise<void> {
  const answer = await fetch(`${ready.url}/v1/services/catalog?limit=20&max_price=${n + 1}`)
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`the catalog answered ${answer.status}`)
}

async function refresh({ ready }: Child): Promise<void> {
  const answer = await fetch(`${ready.url}/dashboard/api/admin/crons/ofac-sdn-refresh/run`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ready.adminKey}` },
  })
  const text = await answer.text()
  if (!text.includes('"success"')) throw new Error(`the list was not taken: ${text}`)
}

async function answersDuring(daemon: Child, work: Promise<void>): Promise<number[]> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  const times: number[] = []
  while (!isDone) {
    const started = performance.now()
    await catalog(daemon, WARM_UPS + times.length)
    times.push(performance.now() - started)
  }
  await done
  return times
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
}

const HEAD = (count: number) =>
  `<?xml version="1.0"?>\n<sdnList xmlns="http://tempuri.org/sdnList.xsd"><publshInformation><Publish_Date>01/02/2026</Publish_Date><Record_Count>${count}</Record_Count></publshInformation>\n`
const TAIL = '</sdnList>\n'

const REMARK = 'Made up for a measurement; nobody is meant. '.repeat(12)

/** An entry of about a kilobyte. */
function entry(n: number): string {
  const hex = n.toString(16).padStart(40, '0')
  const id =
    n % ENTRIES_AN_ADDRESS === 0
      ? `<idType>Digital Currency Address - ETH</idType><idNumber>0x${hex}</idNumber>`
      : `<idType>Passport</idType><idNumber>${hex}</idNumber><idCountry>Nowhere</idCountry>`
  return `<sdnEntry><uid>${n}</uid><firstName>First ${n}</firstName><lastName>Last &amp; Sons</lastName><sdnType>Individual</sdnType><remarks>${REMARK}</remarks><programList><program>SAMPLE</program></programList><idList><id><uid>${n}</uid>${id}</id></idList><akaList><aka><uid>${n}</uid><type>a.k.a.</type><category>weak</category><lastName>Other ${n}</lastName></aka></akaList></sdnEntry>\n`
}

function listText(count: number): string {
  const entries = Array.from({ length: count }, (_, n) => entry(n * ENTRIES_AN_ADDRESS)).join('')
  return `${HEAD(count)}${entries}${TAIL}`
}

async function writeList(path: string): Promise<{ entries: number; addresses: number }> {
  const count = Math.floor(FILE_BYTES / entry(ENTRIES_AN_ADDRESS + 1).length)
  const file = createWriteStream(path)
  file.write(HEAD(count))
  for (let n = 0; n < count; n += 1) if (!file.write(entry(n))) await once(file, 'drain')
  file.end(TAIL)
  await once(file, 'close')
  return { entries: count, addresses: Math.ceil(count / ENTRIES_AN_ADDRESS) }
}
