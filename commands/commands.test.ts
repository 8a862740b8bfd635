import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandIndex } from '../bin/command-index.ts'
import { runLine, shellWords } from '../src/cli/command-line.testkit.ts'
import { globalOptions } from '../src/cli/globals.ts'
import { kebab, membersOf } from '../src/cli/schema.ts'
import { groups } from './groups.ts'
import { entries } from './index.ts'

/* Every command there is: its help, its refusals, and each of its examples against a seeded daemon of its own. */

const LISTING = { name: 'Echo', description: 'Echoes', price: '0.50', fulfillment_type: 'automated' }
/** The token of a consent link, in examples. */
const TOKEN = '0123456789abcdef'.repeat(4)
const ENTRY = join(import.meta.dirname, '..', 'bin', 'souk.ts')
let home: string
/** What the ids and files in examples stand for. */
const meant = new Map<string, string>()

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-commands-'))
  await mustRun('souk up --port 0 --seed demo')
  await mustRun('souk wallet new main')
  await mustRun('souk wallet fund')
  const { participant_id: participant } = JSON.parse(await mustRun('souk account register --role provider --json'))
  const { job_id: job, service_id: sold } = JSON.parse(
    await mustRun('souk buy qr_code -i data=hello --pay x402 --json'),
  )
  await otherSide()
  meant
    .set('p_0123456789abcdef', participant)
    .set('job_0123456789abcdef', job)
    .set(`0x${'0123456789abcdef'.repeat(4)}`, await evidenceRoot(sold))
    .set('onboard.json', join(home, 'onboard.json'))
    .set('./results', join(home, 'results'))
    .set('key.txt', join(home, 'key.txt'))
    .set('bundle.json', join(home, 'bundle.json'))
    .set('deliverable.json', join(home, 'deliverable.json'))
    .set('book.pdf', join(home, 'book.pdf'))
    .set('./downloads', join(home, 'downloads'))
    .set('mine.ndjson', join(home, 'mine.ndjson'))
  await writeFile(join(home, 'key.txt'), `0x${'5a'.repeat(32)}\n`)
  await writeFile(join(home, 'deliverable.json'), JSON.stringify({ words: 3 }))
  await writeFile(join(home, 'onboard.json'), JSON.stringify({ name: 'Shop', services: [LISTING] }))
  await writeFile(join(home, 'book.pdf'), 'a whole book')
  await mkdir(join(home, 'downloads'))
  await cp(join(home, 'config'), join(home, 'prepared'), { recursive: true })
})

afterAll(async () => {
  await run('souk down --all')
  await rm(home, { recursive: true })
})

function run(line: string, config = 'config') {
  const told = [...meant].reduce((text, [example, real]) => text.replaceAll(example, real), line)
  const [, ...words] = shellWords(told)
  return runLine({ entries, groups }, words, {
    env: {
      HOME: home,
      PATH: process.env.PATH ?? '',
      TMPDIR: home,
      SOUK_CONFIG_DIR: join(home, config),
      SOUK_NO_INPUT: '1',
    },
    self: [process.execPath, ENTRY],
    now: () => Date.now(),
  })
}

async function mustRun(line: string): Promise<string> {
  const { code, out, err } = await run(line)
  if (code !== 0) throw new Error(`${line}: ${err}`)
  return out
}

describe('the list of commands', () => {
  it('is what the files say; `npm run commands` writes it anew', async () => {
    expect(readFileSync(join(import.meta.dirname, 'index.ts'), 'utf8')).toBe(await commandIndex())
  })

  it('has a text for every noun, and no noun without a command', () => {
    const nouns = entries
      .filter(({ hidden }) => !hidden)
      .flatMap(({ name }) => name.split(' ').map((_, at, words) => words.slice(0, at).join(' ')))
      .filter((noun) => noun !== '')
    expect([...new Set(nouns)].sort()).toEqual(groups.map(({ name }) => name).sort())
  })

  it('keeps the letters of flags apart', async () => {
    const taken = globalOptions.flatMap(({ flags }) => /^-(\w),/.exec(flags)?.[1] ?? [])
    expect(new Set(taken).size).toBe(taken.length)
    for (const { load } of entries) {
      const letters = membersOf((await load()).command.options).flatMap(([, { short }]) => short ?? [])
      expect(new Set(letters).size).toBe(letters.length)
    }
  })
})

describe.each(entries.map((entry) => [entry.name, entry] as const))('souk %s', (name, entry) => {
  it('explains itself, with a word on each flag', async () => {
    const { command } = await entry.load()
    const { code, out, err } = await run(`souk ${name} --help`)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Usage: souk ${name}`)
    for (const example of command.examples) expect(out).toContain(`$ ${example}`)
    for (const [key, shape] of [...membersOf(command.args), ...membersOf(command.options)]) {
      expect(shape.summary, kebab(key)).not.toBe('')
    }
  })

  it('refuses an unknown flag with exit 2 and an empty stdout', async () => {
    const { code, out, err } = await run(`souk ${name} --no-such-flag`)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('no-such-flag')
  })

  it('tells that as one JSON object under --json', async () => {
    const { out, err } = await run(`souk ${name} --no-such-flag --json`)
    expect(out).toBe('')
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'usage', exit: 2 } })
  })
})

/** The cron counts the first sale, and what it follows from gets a name. */
async function evidenceRoot(service: string): Promise<string> {
  await mustRun('souk crons run reputation')
  const { provider_id: provider } = JSON.parse(await mustRun(`souk services view ${service} --json`))
  const { anchors } = JSON.parse(await mustRun(`souk trust onchain ${provider} --pay x402 --json`))
  return anchors[0].root
}

/** They end the daemon that the others need. */
const LAST = ['restart', 'down']
/** They draw on a terminal; the tests of the cockpit run them on one. */
const ON_TERMINAL = ['tui']
const apart = [...ON_TERMINAL]
const runnable = entries.filter(({ name, aliasOf }) => aliasOf === undefined && !apart.includes(name))
const examples = (await Promise.all(runnable.map(({ load }) => load())))
  .flatMap(({ command }) => command.examples.map((line) => [line, command.name] as const))
  .sort(([, a], [, b]) => LAST.indexOf(a) - LAST.indexOf(b))

/** They need a listing of their own, which they may remove. */
const SELLING = ['services edit', 'services delete', 'provide']
/** They need a wallet that nobody registered. */
const REGISTERING = ['account register', 'provider onboard']
/** They need a job that the active wallet does, or one that was done for it. */
const PROVIDING = ['jobs update']
const JUDGING = ['jobs verify', 'jobs dispute']
/** They need somebody whose verification has begun, and some of them one who has consented. */
const VERIFYING = ['verify consent', 'verify approve', 'verify reject']
const CONSENTED = ['verify approve', 'verify reject']
/** They change a registration for good. */
const ROTATING = ['account rotate-key']

async function newListing(config: string): Promise<void> {
  const set = Object.entries(LISTING).map(([field, value]) => `--set ${field}=${value}`)
  const { code, out, err } = await run(`souk services create ${set.join(' ')} --json`, config)
  if (code !== 0) throw new Error(err)
  meant.set('svc_0123456789abcdef', JSON.parse(out).id)
}

async function newWallet(config: string, ...then: string[]): Promise<void> {
  for (const line of ['souk wallet new fresh', 'souk wallet use fresh', 'souk wallet fund', ...then]) {
    const { code, err } = await run(line, config)
    if (code !== 0) throw new Error(`${line}: ${err}`)
  }
}

/** A job between the active wallet and another one; what was done for it is delivered. @returns its id */
async function newJob(config: string, side: 'provider' | 'buyer'): Promise<string> {
  const must = async (line: string) => {
    const { code, out, err } = await run(`${line} --json`, config)
    if (code !== 0) throw new Error(`${line}: ${err}`)
    return JSON.parse(out)
  }
  for (const line of ['wallet new peer', 'wallet fund peer', 'account register --role provider --as peer']) {
    await must(`souk ${line}`)
  }
  const [provider, buyer] = side === 'provider' ? ['main', 'peer'] : ['peer', 'main']
  const fields = Object.entries({ ...LISTING, fulfillment_type: 'human' }).map(
    ([name, value]) => `--set ${name}=${value}`,
  )
  const { id } = await must(`souk services create ${fields.join(' ')} --as ${provider}`)
  const { job_id } = await must(`souk buy ${id} --pay x402 --as ${buyer}`)
  if (side === 'buyer') await must(`souk jobs update ${job_id} --deliverable deliverable.json --as ${provider}`)
  return job_id
}

/** Whoever the one who runs the examples deals with; each of them sells something to the other. */
const listings = { main: '', other: '' }

async function otherSide(): Promise<void> {
  for (const line of [
    'wallet fund main --amount 50',
    'wallet new other',
    'wallet fund other --amount 50',
    'account register --role both --as other',
  ])
    await mustRun(`souk ${line}`)
  const byHand = { ...LISTING, fulfillment_type: 'human' }
  const set = Object.entries(byHand).map(([field, value]) => `--set ${field}=${value}`)
  for (const who of ['main', 'other'] as const)
    listings[who] = JSON.parse(await mustRun(`souk services create ${set.join(' ')} --as ${who} --json`)).id
}

/** What has to have happened in a conversation, with the one who runs the example as buyer or as provider. */
const agreed = ['propose THREAD --price 0.50 --as PROVIDER', 'accept THREAD --yes --as BUYER']
const delivered = [...agreed, 'update THREAD --status completed --deliverable deliverable.json --as PROVIDER']
const TALKS: Record<string, { side: 'buyer' | 'provider'; lines: readonly string[] }> = {
  'threads view': { side: 'buyer', lines: [] },
  'threads send': { side: 'provider', lines: [] },
  'threads propose': { side: 'provider', lines: [] },
  'threads attach': { side: 'provider', lines: [] },
  'threads download': { side: 'buyer', lines: ['attach THREAD book.pdf --as PROVIDER'] },
  'threads accept': { side: 'buyer', lines: agreed.slice(0, 1) },
  'threads decline': { side: 'buyer', lines: [] },
  'threads update': { side: 'provider', lines: agreed },
  'threads verify': { side: 'buyer', lines: delivered },
  'threads dispute': { side: 'buyer', lines: delivered },
  'admin jobs resolve': { side: 'buyer', lines: [...delivered, 'dispute THREAD --reason bad --as BUYER'] },
}

async function newTalk(name: string): Promise<void> {
  const { side, lines } = TALKS[name] as (typeof TALKS)[string]
  const [buyer, provider] = side === 'buyer' ? (['main', 'other'] as const) : (['other', 'main'] as const)
  const asked = `souk services inquire ${listings[provider]} -m hello --as ${buyer} --json`
  const thread = JSON.parse(await mustRun(asked)).thread_id
  const line = (words: string) =>
    `souk threads ${words.replace('THREAD', thread).replace('BUYER', buyer).replace('PROVIDER', provider)} --json`
  for (const words of lines) {
    const [attached] = JSON.parse(await mustRun(line(words))).files ?? []
    if (attached) meant.set('file_0123456789abcdef', attached.file_id)
  }
  const { job_id } = JSON.parse(await mustRun(line(`view THREAD --as ${buyer}`)))
  meant.set('thr_0123456789abcdef', thread)
  if (name.startsWith('admin')) meant.set('job_0123456789abcdef', job_id)
}

/** Whose request it is that an example is about; where it is another's, the one who runs the example bids. */
const REQUESTS: Record<string, 'mine' | 'theirs'> = {
  'requests view': 'mine',
  'requests bids': 'mine',
  'requests cancel': 'mine',
  'requests award': 'mine',
  'requests bid': 'theirs',
  'requests withdraw': 'theirs',
}

async function newRequest(name: string): Promise<void> {
  const [poster, bidder] = REQUESTS[name] === 'mine' ? (['main', 'other'] as const) : (['other', 'main'] as const)
  const asked = `souk requests create --title Work --brief x --budget 20 --as ${poster} --json`
  const { posting_id: posting } = JSON.parse(await mustRun(asked))
  meant.set('post_0123456789abcdef', posting).set('svc_0123456789abcdef', listings.main)
  if (name === 'requests bid') return
  const offered = `souk requests bid ${posting} --service ${listings[bidder]} --price 1 --eta 1 --as ${bidder} --json`
  meant.set('bid_0123456789abcdef', JSON.parse(await mustRun(offered)).bid_id)
}

async function mustIn(config: string, line: string) {
  const { code, out, err } = await run(`souk ${line} --json`, config)
  if (code !== 0) throw new Error(`${line}: ${err}`)
  return JSON.parse(out)
}

/** An identity of a wallet, as the example names it. */
async function newIdentity(config: string, wallet: string): Promise<void> {
  const { identity } = await mustIn(config, `wallet fund ${wallet} --identity`)
  meant.set('--agent-id 7', `--agent-id ${identity.agent_id}`)
  meant.set('eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432', identity.agent_registry)
}

/** A job whose provider has an identity, done, judged and counted. */
async function newFeedback(config: string): Promise<string> {
  const job = await newJob(config, 'buyer')
  await newIdentity(config, 'peer')
  const linked = 'identity link --agent-id 7 --registry eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'
  for (const line of [`${linked} --as peer`, `jobs verify ${job}`, 'crons run reputation']) await mustIn(config, line)
  return job
}

async function newVerification(config: string, name: string): Promise<void> {
  await newWallet(config, 'souk account register')
  if (!VERIFYING.includes(name)) return
  const { attempt_id, consent_url } = await mustIn(config, 'verify start')
  const token = consent_url.split('/').at(-1)
  meant.set('vat_0123456789abcdef', attempt_id).set(TOKEN, token)
  if (CONSENTED.includes(name)) await mustIn(config, `verify consent ${token} --operator-name Ann --yes`)
}

/** What the commands about identities and reputation are about. */
async function newProof(config: string, name: string): Promise<void> {
  if (name === 'identity link') await newIdentity(config, 'main')
  if (name === 'trust feedback') meant.set('job_0123456789abcdef', await newFeedback(config))
  if (name.startsWith('verify ')) await newVerification(config, name)
}

/** A plan of the one who runs the example, or one of another's to subscribe to. */
async function newPlan(name: string): Promise<void> {
  const isOwn = name.startsWith('plans') && name !== 'plans subscribe'
  const owner = isOwn ? 'main' : 'other'
  meant.set('svc_0123456789abcdef', listings[owner])
  const asked = `souk plans create --name Basic --price 0.10 --service ${listings[owner]} --as ${owner} --json`
  const { plan_id: plan } = JSON.parse(await mustRun(asked))
  meant.set('plan_0123456789abcdef', plan)
  if (!name.startsWith('subs')) return
  const { subscription_id: id } = JSON.parse(await mustRun(`souk plans subscribe ${plan} --as main --json`))
  meant.set('sub_0123456789abcdef', id)
  if (name === 'subs resume') await mustRun(`souk subs pause ${id} --as main`)
}

/** Whose product it is that an example is about. */
const PRODUCTS: Record<string, 'main' | 'other'> = {
  'products view': 'other',
  'products edit': 'main',
  'products delete': 'main',
  'products buy': 'other',
  'products download': 'main',
}

async function newProduct(name: string): Promise<void> {
  const sold = `souk products create --name Book --price 5.00 --upload book.pdf --as ${PRODUCTS[name]} --json`
  meant.set('prod_0123456789abcdef', JSON.parse(await mustRun(sold)).id)
}

/** Runs a line with wallets and settings of its own, as far as it may change them. */
async function runApart(line: string, name: string) {
  const config = name === 'wallet new' ? 'empty' : 'copy'
  if (config === 'copy') await cp(join(home, 'prepared'), join(home, config), { recursive: true })
  if (SELLING.includes(name)) await newListing(config)
  if (REGISTERING.includes(name)) await newWallet(config)
  if (ROTATING.includes(name)) await newWallet(config, 'souk account register')
  const job = meant.get('job_0123456789abcdef') as string
  if (PROVIDING.includes(name)) meant.set('job_0123456789abcdef', await newJob(config, 'provider'))
  if (JUDGING.includes(name)) meant.set('job_0123456789abcdef', await newJob(config, 'buyer'))
  if (name === 'services inquire') meant.set('svc_0123456789abcdef', listings.other)
  if (Object.hasOwn(TALKS, name)) await newTalk(name)
  if (Object.hasOwn(REQUESTS, name)) await newRequest(name)
  if (/^(plans|subs) /.test(name)) await newPlan(name)
  if (Object.hasOwn(PRODUCTS, name)) await newProduct(name)
  await newProof(config, name)
  const ran = await run(line, config)
  meant.set('job_0123456789abcdef', job)
  await rm(join(home, config), { recursive: true, force: true })
  return ran
}

/** Lines that print something else than their data as JSON, on purpose. */
const NOT_JSON = /--(help|tsv|ndjson)|help |-q /
const STREAMED = ['export', 'logs', 'tour', 'listen', 'provide']

describe('examples', () => {
  it.each(examples)('%s', async (line, name) => {
    const { code, err } = await runApart(line, name)
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  })

  it.each(examples.filter(([line]) => !NOT_JSON.test(line)))('%s --json is JSON alone', async (line, name) => {
    await mustRun('souk up --port 0 --seed demo')
    const { code, out } = await runApart(line.includes('--json') ? line : `${line} --json`, name)
    expect(code).toBe(0)
    const parts = STREAMED.includes(name) ? out.trimEnd().split('\n').filter(Boolean) : [out]
    for (const part of parts) expect(() => JSON.parse(part)).not.toThrow()
  })
})

describe('without a daemon', () => {
  const needing = [
    'health',
    'services list',
    'endpoints list',
    'openapi',
    'api /health',
    'wallet fund',
    'services view qr_code',
  ]
  it.each(needing)('souk %s exits 10 and says souk up', async (words) => {
    await run('souk down')
    const { code, out, err } = await run(`souk ${words}`)
    expect([code, out]).toEqual([10, ''])
    expect(err).toContain('→ souk up')
  })

  it('the log is still readable', async () => {
    expect(JSON.parse((await mustRun('souk logs --tail 1 --ndjson')).trim())).toHaveProperty('level')
  })
})
