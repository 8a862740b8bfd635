import { isDeepStrictEqual } from 'node:util'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import { type ClockMove, moveClock, timeOf } from '../src/cli/nouns/clock.ts'
import * as z from '../src/cli/params.ts'
import { publicConfig, withDaemonSettings } from '../src/cli/public.ts'
import { wouldDo } from '../src/cli/session.ts'
import type { DaemonRegistration } from '../src/client/discover.ts'
import type { Places } from '../src/client/settings.ts'
import { compact } from '../src/core/record.ts'
import { checkChain, keptChain } from '../src/lifecycle/chain-options.ts'
import {
  checkStore,
  DEMO,
  HOUSE,
  hostOf,
  Launch,
  lastLaunch,
  launchWords,
  NO_SEED,
  notifyOf,
  portOf,
  saidOf,
  signerOf,
  storeOf,
  type Typed,
  typedOptions,
} from '../src/lifecycle/launch.ts'
import { hasStore } from '../src/lifecycle/restore.ts'
import { type Started, shownFront, startDaemon } from '../src/lifecycle/start.ts'
import type { Unit } from '../src/lifecycle/systemd.ts'
import type { SeedFile } from '../src/market/file/shape.ts'
import { Rate, showTraffic, type TrafficItem } from '../src/market/traffic.ts'
import { bold, cyan, didYouMean, green, kebab, shellLine, shellWord, span, yellow } from '../src/text/text.ts'

const SEED_WORDS: ReadonlyMap<string, string> = new Map([
  [DEMO, ': three sellers and three buyers with months of history; act as one with --as acme'],
  [HOUSE, ': built-in services only; --seed demo adds users with history, --seed none adds nothing'],
  [NO_SEED, ': no initial data'],
])

const CHAIN_WORDS = {
  sandbox: 'sandbox (test money, nothing leaves this machine)',
  devnet: 'devnet (test money on a local chain)',
  'base-sepolia': 'base-sepolia (test money on a public chain; you pay the gas)',
  base: yellow('base: REAL MONEY'),
} as const satisfies Readonly<Record<NonNullable<Launch['chain']>, string>>
type ChainName = keyof typeof CHAIN_WORDS
const REAL_MONEY = 'real money'

const options = z.object({
  ...typedOptions,
  clock: z.text({
    description: 'business time: real, frozen, or a start time in the future',
    value: 'real|frozen|time',
  }),
  traffic: Rate.optional().meta({ description: 'make the demo users trade until ctrl-c', value: 'n/min' }),
  systemd: z.flag({ description: 'print a systemd unit and exit' }),
  foreground: z.flag({ description: 'run in the foreground and log to the terminal' }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

export const command = defineCommand({
  name: 'up',
  heading: 'Daemon',
  summary: 'start the local daemon; does nothing if it runs',
  endsItself: true,
  description:
    'The daemon runs in the background and keeps its data across restarts. The command waits as long as the start makes progress, even if another command began it. To change options of a running daemon, use `souk restart` or stop it first.',
  options,
  examples: [
    'souk up',
    'souk up --seed demo --instance demo --port 0',
    'souk up --seed market.yaml --instance mine --dry-run',
    'souk up --seed none --port 0 --instance bare --json',
    'souk up --seed demo --instance demo --traffic 30/min --dry-run',
    'souk up --public-url https://souk.example.org --instance public --dry-run',
    'souk up --tls --public-faucet --instance lan --dry-run',
    'souk up --port 0 --json',
    'souk up --chain devnet --seed house --instance chain --dry-run',
    'souk up --systemd',
    'souk up --store postgres://souk@localhost/souk --instance shop --dry-run',
    'souk up --clock frozen --instance still --dry-run',
  ],
  run: (context) => (context.options.traffic === undefined ? bringUp(context) : withTraffic(context)),
  ownText: true, // a systemd unit is printed unchanged; all other text is the program's own
  view(data, io) {
    if ('did' in data) return showTraffic(data, io)
    if ('unit' in data) return showUnit(data, io)
    if (data.state !== 'running') return showIdle(data, io)
    const state = data.already_running ? 'is up already' : 'is up'
    io.line(
      `${green('✓')} souk ${data.version} ${state}   ${bold(data.url)}   pid ${data.pid}   ${took(data, io.now())}`,
    )
    if (data.public_url !== null) io.line(`  public    ${data.public_url}`)
    if (data.lan_url !== null && data.fingerprint !== null) {
      io.line(`  network   ${data.lan_url}`)
      io.line(`  sha256    ${data.fingerprint}`)
      io.line(`  there     ${cyan(io.hint(`souk remote add shop ${data.lan_url} --fingerprint ${data.fingerprint}`))}`)
    }
    io.line(
      `  data      ${data.data}   (${data.persistent ? 'kept across restarts' : 'deleted when the daemon stops'})`,
    )
    if (data.clock !== null) io.line(`  clock     ${data.clock.state}   ${data.clock.now}`)
    io.line(`  chain     ${CHAIN_WORDS[data.chain]}`)
    if (data.seed !== null) io.line(`  seeded    ${data.seed}${SEED_WORDS.get(data.seed) ?? ''}`)
    io.line(
      `  next      ${[data.has_wallet ? 'souk status' : 'souk wallet new', 'souk services list', 'souk logs -f'].map((line) => cyan(io.hint(line))).join('    ')}`,
    )
  },
})

type Stopped = ReturnType<typeof shown> & { readonly state: 'stopped'; readonly took_ms: number }
type Running = ReturnType<typeof shown> & {
  readonly state: 'running'
  readonly already_running: boolean
  readonly recovered: boolean
  readonly persistent: boolean
  readonly has_wallet: boolean
  readonly chain: ChainName
  readonly data: string
  readonly seed: string | null
  readonly public_url: string | null
  /** Business time, if set. */
  readonly clock: { readonly now: string; readonly state: string } | null
  readonly took_ms: number
}
/** A daemon that waits for the database of another one. */
type Front = ReturnType<typeof shownFront>
type Up = Stopped | Running | Front | Unit

function showIdle(data: Stopped | Front, io: Io): void {
  if (data.state === 'stopped') return
  io.line(`${green('✓')} souk ${data.version} is a front   ${bold(data.url)}   ${data.waits_for} leads`)
}

function showUnit({ unit, name }: Unit, io: Io): void {
  io.line(unit.trimEnd())
  io.note(`save it as ~/.config/systemd/user/${name}, then: systemctl --user enable --now ${name}`)
}

/** Runs the demo traffic after the start. The daemon keeps running when the traffic ends. */
async function* withTraffic(context: Context): AsyncGenerator<Up | TrafficItem> {
  const { traffic: rate = 0, foreground, systemd } = context.options
  if (systemd) throw usage('--systemd cannot be combined with --traffic, which needs a terminal.')
  if (foreground)
    throw usage('--traffic and --foreground both need the terminal: run --traffic in another one.', {
      next: ['souk seed traffic'],
    })
  yield await bringUp(context)
  const { runTraffic } = await import('../src/market/traffic.ts')
  yield* runTraffic(context, { rate })
}

async function bringUp(context: Context): Promise<Up> {
  const { foreground, traffic: _, systemd, clock: _clock, ...typed } = context.options
  const move = clockMove(context.options)
  const { file, seedFile, said } = await seedFileOf(context, saidOf(typed))
  const launch = await agreed(context, launchAs(context, said))
  if (systemd) return (await import('../src/lifecycle/systemd.ts')).unitOf(context, launch)
  const startedAt = context.io.now()
  const isNew = launch.ephemeral || !hasStore(context)
  requireNew(context, isNew, file)
  wouldDo(
    context.globals,
    `start ${context.places.instance} on ${hostOf(launch)}:${portOf(launch)} over ${context.places.data}`,
  )
  if (foreground) {
    const { serveHere } = await import('../src/lifecycle/foreground.ts')
    return { ...shown(await serveHere(context, launch)), state: 'stopped' as const, took_ms: 0 }
  }
  const { listWallets } = await import('../src/client/wallets.ts')
  const started = await startDaemon(context, launch, said)
  if ('waiting' in started) return shownFront(started)
  const { url, data_dir } = started.registration
  if (started.alreadyRunning) requireAgreement(context.places, started.registration, said)
  noteOf(context, started)
  if (seedFile !== undefined) await playFile(context, seedFile)
  return {
    ...shown(started.registration),
    state: 'running' as const,
    already_running: started.alreadyRunning,
    recovered: started.recovered,
    persistent: data_dir === context.places.data,
    has_wallet: listWallets(context.places).some(({ well_known }) => !well_known),
    chain: started.registration.chain ?? 'sandbox',
    data: context.io.path(data_dir),
    seed: isNew && !started.alreadyRunning ? (file ?? launch.seed ?? HOUSE) : null,
    url,
    public_url: started.alreadyRunning ? null : (publicConfig(launch).publicUrl ?? null),
    clock: await clockAfter(context, move),
    took_ms: context.io.now() - startedAt,
  }
}

/** Launch options: typed ones override saved ones. If there is data, its chain and port are used. */
function launchAs(context: Context, said: Typed): Launch {
  const { places } = context
  // Takes passwords off the list of processes.
  if (said.store !== undefined || said.notify !== undefined || said.signer !== undefined) process.title = 'souk up'
  const last = lastLaunch(places)
  const launch = withDaemonSettings(
    places,
    Launch.parse({
      ...said,
      ...compact({ store: storeOf(context, said), notify: notifyOf(context, said), signer: signerOf(context, said) }),
    }),
  )
  checkStore(launch)
  const kept = keptChain(launch, launch.ephemeral || !hasStore(context) ? undefined : last)
  return { ...kept, ...compact({ port: kept.port ?? last.port }) }
}

/** Reads a seed file before the start: a faulty file prevents the start. The seed is applied once the daemon serves. */
async function seedFileOf(context: Context, { seed, ...said }: Typed) {
  if (seed === undefined || SEED_WORDS.has(seed)) return { said: { ...said, ...compact({ seed }) } }
  if (!/[./]/.test(seed)) throw noSeed(seed)
  if (context.options.foreground || context.options.systemd) {
    throw usage('A seed file needs a daemon in the background: omit --foreground.', {
      next: [shellLine`souk seed --file ${seed}`],
    })
  }
  const { checkedSeed } = await import('../src/market/file/shape.ts')
  return { file: seed, seedFile: await checkedSeed(context.io, seed), said }
}

function noSeed(seed: string): CliError {
  const names = [...SEED_WORDS.keys()]
  return usage(`There is no seed "${seed}"${didYouMean(seed, names)}.`, {
    facts: [`choose one of ${names.join(', ')}, or a file such as market.yaml`],
  })
}

async function playFile(context: Context, seedFile: SeedFile): Promise<void> {
  const { play } = await import('../src/market/file/play.ts')
  using progress = context.io.progress('loading the seed file')
  for await (const { did } of play(context, await context.session(), seedFile)) progress.update(did)
}

function requireNew({ places }: Context, isNew: boolean, file: string | undefined): void {
  if (isNew || file === undefined) return
  throw new CliError('conflict', 'The marketplace already exists; --seed is only for a new one.', {
    facts: [places.data],
    next: ['souk up', shellLine`souk seed --file ${file}`],
  })
}

/** Writes to stderr, so that users of scripts see the notes, too. */
function noteOf({ io }: Context, { notes, recovered }: Started): void {
  for (const note of notes) io.say(`${yellow('!')} ${note}`)
  if (recovered) io.note('the previous daemon had crashed; its data was recovered')
}

/** Whether a daemon has run here with real money. A store alone proves nothing, since a refused start creates one. */
function hasBegun(context: Context): boolean {
  return hasStore(context) && lastLaunch(context.places).chain === 'base'
}

/** The first start with real money must be confirmed by typing. */
async function agreed(context: Context, launch: Launch): Promise<Launch> {
  checkChain(launch)
  if (launch.chain !== 'base' || launch.realMoney || context.options.systemd || hasBegun(context)) return launch
  const asked = `This marketplace uses real USDC. Type "${REAL_MONEY}" to continue:`
  const typed = await context.io.ask(asked, { flag: '--real-money' })
  if (typed.trim() === REAL_MONEY) return { ...launch, realMoney: true }
  throw usage('Nothing was started: real money was not confirmed.', { next: ['souk up', 'souk up --chain devnet'] })
}

/** `frozen`, `real`, or a start time; undefined without --clock. @throws CliError usage */
function clockMove({ clock, foreground, systemd }: Context['options']): ClockMove | undefined {
  if (clock === undefined) return undefined
  if (foreground || systemd) {
    throw usage('--clock needs a running daemon: start it first.', { next: ['souk clock freeze'] })
  }
  if (clock === 'frozen') return { state: 'frozen' }
  return clock === 'real' ? { state: 'running' } : { set: timeOf(clock), state: 'running' }
}

async function clockAfter(context: Context, move: ClockMove | undefined) {
  if (move === undefined) return null
  const { now, state } = await moveClock(await context.session(), move)
  return { now, state }
}

function took(data: { already_running: boolean; took_ms: number; started_at: string }, now: number): string {
  return data.already_running
    ? `for ${span(now - Date.parse(data.started_at))}`
    : `${(data.took_ms / 1_000).toFixed(1)} s`
}

function shown({ pid, started_at, url, version, instance_id, data_dir, ...tls }: DaemonRegistration) {
  const { lan_url = null, fingerprint = null } = tls
  return { url, pid, started_at, version, instance_id, data_dir, lan_url, fingerprint }
}

const changeable: ReadonlySet<string> = new Set([
  'port',
  'host',
  'logLevel',
  'publicUrl',
  'allowHost',
  'trustProxy',
] satisfies readonly (keyof Typed)[])

/** @throws CliError `conflict` if an option differs from that of the running daemon */
export function requireAgreement(places: Places, registration: DaemonRegistration, { seed, ...said }: Typed): void {
  if (seed !== undefined && registration.seed !== undefined && seed !== registration.seed) {
    throw otherSeed(registration.seed, seed)
  }
  const running: Typed = {
    ...withDaemonSettings(places, lastLaunch(places)),
    port: Number(new URL(registration.url).port),
  }
  const others = Object.entries(said).filter(
    // `--port 0` accepts any port, so it never differs from the running daemon's port.
    ([name, value]) =>
      !(name === 'port' && value === 0) &&
      !isDeepStrictEqual(wordsOf(name, value), wordsOf(name, running[name as keyof Typed])),
  )
  if (others.length === 0) return
  const names = others.map(([name]) => `--${kebab(name)}`).join(', ')
  const secret = [
    said.store && '--store=URL',
    said.notify && '--notify=TARGET',
    said.signer && '--signer=SIGNER',
  ].filter((one) => one !== undefined)
  const words = [...launchWords(said), ...secret].map(shellWord).join(' ')
  throw new CliError('conflict', `The daemon is already running with different ${names}.`, {
    facts: [`pid ${registration.pid} at ${registration.url}; nothing was changed`],
    next: others.every(([name]) => changeable.has(name))
      ? [`souk restart ${launchWords(Object.fromEntries(others)).map(shellWord).join(' ')}`]
      : ['souk down', `souk up ${words}`],
  })
}

/** An option as words of the command line, with absolute file paths, so that two options can be compared. */
function wordsOf(name: string, value: unknown): readonly string[] {
  return name === 'store' || name === 'notify' || name === 'signer'
    ? [String(value)]
    : launchWords({ [name]: value ?? undefined })
}

function otherSeed(has: string, wanted: string): CliError {
  const elsewhere = shellLine`souk up --instance ${wanted} --port 0 --seed ${wanted}`
  return new CliError('conflict', `The daemon is already running with data from --seed ${has}, not ${wanted}.`, {
    facts: ['nothing was changed'],
    next: wanted === DEMO ? ['souk seed demo', elsewhere] : [elsewhere],
  })
}
