import { join, resolve } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { usage } from '../cli/exit.ts'
import * as z from '../cli/params.ts'
import { parseDuration } from '../cli/params.ts'
import { DEFAULT_PORT, publicOptions } from '../cli/public.ts'
import { registeredDaemon } from '../client/discover.ts'
import { readJson, writeJson } from '../client/files.ts'
import type { Places } from '../client/settings.ts'
import { splitAlarmTargets } from '../core/alarm-target.ts'
import { isAddress, toWallet } from '../core/hex.ts'
import { formatAmount, parseAmount } from '../core/money.ts'
import { compact } from '../core/record.ts'
import type { FacilitatorConfig } from '../model/payment.ts'
import { logLevels, type Payee } from '../model/words.ts'
import { kebab } from '../text/text.ts'
import { chainFiles, chainOptions } from './chain-options.ts'
import { hasStore, isInDatabase } from './restore.ts'

const SHARE = /^(operator|0x[0-9a-f]{40})=(\d{1,3})(?:\.(\d{1,2}))?$/i
const WHOLE_BPS = 10_000n
const BPS_PER_PCT = 100n

/** Fee shares, such as `operator=60,0x…=40`: percentages with at most 2 decimals, which sum to 100. */
export const Payees = z.string().refine(
  (text) => fault(text) === undefined,
  (text) => fault(text) ?? 'cannot be read',
)

export function payeesOf(text: string): Payee[] {
  return text.split(',').map((part) => {
    const [, to = '', percent = '', decimals = ''] = SHARE.exec(part) ?? []
    return {
      to: isAddress(to) ? toWallet(to) : 'operator',
      bps: BigInt(percent) * BPS_PER_PCT + BigInt(decimals.padEnd(2, '0')),
    }
  })
}

function fault(text: string): string | undefined {
  const stranger = text.split(',').find((part) => !SHARE.test(part))
  if (stranger !== undefined) return `must be like operator=60,0x…=40; "${stranger}" is not`
  const payees = payeesOf(text)
  if (new Set(payees.map(({ to }) => to)).size < payees.length) return 'must list each payee once'
  if (payees.some(({ bps }) => bps === 0n)) return 'must give each payee more than 0'
  const sum = payees.reduce((total, { bps }) => total + bps, 0n)
  return sum === WHOLE_BPS ? undefined : `must sum to 100 percent, not ${Number(sum) / Number(BPS_PER_PCT)}`
}

/** The seed with the demo market, whose history is written before the daemon serves. */
export const DEMO = 'demo'
/** The seed that has only the first-party listings. The demo seed has these listings, too. */
export const HOUSE = 'house'
export const NO_SEED = 'none'
const MAX_URL_CHARS = 2_048
const TICK_MS_MIN = 100
const TICK_MS_MAX = 60_000

/** An on/off option. Unlike a flag, it distinguishes `off` from "not given". */
const OnOff = z.enum(['on', 'off']).meta({ value: 'on|off' })

function isTick(ms: number | undefined): boolean {
  return ms !== undefined && ms >= TICK_MS_MIN && ms <= TICK_MS_MAX
}

const MOST_PAYEES = 100
const MOST_GAS = 1_000_000_000_000

const PayeeWallet = z.string().refine(isAddress, 'must be an address like 0x…, of 40 hex digits')
const Value = z
  .string()
  .refine((text) => (parseAmount(text) ?? 0n) > 0n, `must be an amount of USDC like ${formatAmount(1_000n)}`)

export const facilitatorOptions = {
  facilitator: z.flag({ description: 'verify and settle x402 payments for other servers' }),
  facilitatorPayTo: z
    .array(PayeeWallet)
    .max(MOST_PAYEES)
    .default([])
    .meta({ description: 'wallet to which any facilitator key may settle payments', value: 'wallet' }),
  facilitatorMinValue: Value.optional().meta({
    description: 'smallest payment to settle, in USDC (default: 0.001)',
    value: 'amount',
  }),
  facilitatorDailyGas: z.between(1, MOST_GAS).optional().meta({
    description: 'gas limit per key and day (default: 80000000)',
    value: 'gas',
  }),
} as const

const Facilitating = z.object(facilitatorOptions)

/** Start options of `up`, `restart` and the child process. */
export const launchOptions = {
  host: z.text({ description: 'address to listen on (default: loopback; with --tls: all)', value: 'address' }),
  tls: z.flag({ description: 'serve HTTPS on the network with a self-signed certificate' }),
  ...publicOptions,
  store: z.text({
    description: 'PostgreSQL database that keeps all data (default: SOUK_STORE, or the last one, or files)',
    value: 'postgres://…',
  }),
  spare: z.flag({ description: 'while another daemon has the database, hand requests to it; then take over from it' }),
  advertise: z
    .string()
    .regex(/^([\w.-]+|\[[\da-f:.]+\]):\d{1,5}$/i, 'must be HOST:PORT')
    .optional()
    .meta({
      description: 'where daemons of one database reach this one (default: where it listens)',
      value: 'host:port',
    }),
  rows: z.enum(['memory', 'disk']).optional().meta({
    description: 'where rows are kept (default: memory; from about 4,000 purchases, disk)',
    value: 'memory|disk',
  }),
  ephemeral: z.flag({ description: 'keep no data after the daemon stops' }),
  seed: z.text({
    description: 'initial data: house (built-in services), demo (users with history), none, or a file (default: house)',
    value: 'name',
  }),
  profile: z
    .enum(['local', 'observed'])
    .default('local')
    .meta({ description: 'start profile; `observed` starts paused, with the checkout cutover on' }),
  ...chainOptions,
  checkoutV2: OnOff.optional().meta({ description: 'checkout cutover: some endpoints answer 410', value: 'on|off' }),
  crons: OnOff.default('on').meta({ description: 'scheduled jobs' }),
  tick: z
    .string()
    .refine((text) => isTick(parseDuration(text)), 'must be a duration from 100ms to 1m')
    .optional()
    .meta({ description: 'interval between checks for due events (default: 1s)', value: 'duration' }),
  metricsOpen: z.flag({ description: 'serve /metrics without the admin key, on loopback' }),
  sdnSource: z
    .string()
    .regex(/^(?!http:)/i, 'must be a file or an https URL')
    .optional()
    .meta({ description: 'sanctions list in SDN.XML format (default: a synthetic sample)', value: 'file|url' }),
  sdnAcceptShrink: z.flag({
    description: 'accept a sanctions list that has less than half as many addresses as the current one',
  }),
  payees: Payees.optional().meta({
    description: 'fee shares in percent, such as operator=60,0x…=40 (default: operator=100)',
    value: 'shares',
  }),
  bazaar: z
    .string()
    .max(MAX_URL_CHARS)
    .regex(/^https?:\/\/[^\s]+$/i, 'must be an http or https URL')
    .optional()
    .meta({
      description: 'URL of the listing index that /health reports (default: the index of this marketplace)',
      value: 'url',
    }),
  ...facilitatorOptions,
  engines: z.text({
    description: 'JSON file that configures external engines of the built-in services',
    value: 'file',
  }),
  logLevel: z.enum(logLevels).default('info').meta({ description: 'lowest level that is logged' }),
} as const

/** Start options without defaults for `profile`, `crons` and `logLevel`: these stay undefined if omitted. */
export const typedOptions = {
  ...launchOptions,
  profile: typed(launchOptions.profile),
  crons: typed(launchOptions.crons),
  logLevel: typed(launchOptions.logLevel),
}

function typed<T>(option: z.Param<T>): z.Param<Exclude<T, undefined> | undefined> {
  const { meta, fallback } = option.facts
  return option
    .unwrap()
    .optional()
    .meta({ ...meta, description: `${meta.description ?? ''} (default: ${fallback})` })
}

/** Typed start options. */
export type Typed = Partial<Launch>

/** The options that were typed. A false flag or an empty list counts as not typed. */
export function saidOf(given: { readonly [name in keyof Launch]?: unknown }): Typed {
  const said = Object.entries(given).filter(([, value]) => value !== false && [value ?? []].flat().length > 0)
  return Object.fromEntries(said)
}

/** Port with default. */
export function portOf({ port }: Pick<Launch, 'port'>): number {
  return port ?? DEFAULT_PORT
}

/** Address with default. */
export function hostOf({ host, tls }: Pick<Launch, 'host' | 'tls'>): string {
  return host ?? (tls ? '0.0.0.0' : '127.0.0.1')
}

/** The daemon's configuration for the sanctions list, the payees and the money on hand. File paths become absolute. */
export function moneyConfig({ sdnSource, sdnAcceptShrink, payees, hotCeiling, coldAddress, ethPrice }: Launch) {
  return {
    ...compact({ hotCeiling: parseAmount(hotCeiling ?? ''), ethPrice: parseAmount(ethPrice ?? '') }),
    ...(coldAddress === undefined ? {} : { coldAddress: toWallet(coldAddress) }),
    ...(sdnSource === undefined ? {} : { sdnSource: wholePath(sdnSource) }),
    ...(sdnAcceptShrink ? { sdnAcceptShrink } : {}),
    ...(payees === undefined ? {} : { payees: payeesOf(payees) }),
  }
}

function wholePath(source: string): string {
  return /^https:/i.test(source) ? source : resolve(source)
}

export const Launch = z.object(launchOptions)
export type Launch = z.output<typeof Launch>
/** The start options without `profile` and `checkoutV2`, which are in the store. */
const Lasting = Launch.omit({ profile: true, checkoutV2: true })

function fileOf(places: Pick<Places, 'state'>): string {
  return join(places.state, 'launch.json')
}

export function keepLaunch(places: Pick<Places, 'state'>, { passphraseFd: _, ...launch }: Launch): void {
  writeJson(fileOf(places), launch)
}

export function lastLaunch(places: Pick<Places, 'state'>): Launch {
  const last = readJson(fileOf(places), Launch) ?? Launch.parse({})
  return last.ephemeral ? last : Launch.parse(Lasting.parse(last))
}

/** Options of the start in progress, or else of the last start. The last start's seed is omitted if data exists. */
export function lastLaunchOf(places: Places): Launch {
  const found = registeredDaemon(places)
  if (found.state === 'starting') return Launch.parse(found.registration.launch)
  const { seed, ...last } = lastLaunch(places)
  return { ...last, ...(last.ephemeral || !hasStore({ places }) ? compact({ seed }) : {}) }
}

/** Options that name files. Their paths are made absolute, since the child runs in another folder. */
const FILES: ReadonlySet<string> = new Set(['sdnSource', 'engines', ...chainFiles] satisfies readonly (keyof Launch)[])

/** The database of a start: the typed one, else that of the environment, else that of the last start. */
export function storeOf(host: Pick<CommandContext<unknown, unknown>, 'places' | 'system'>, said: Typed) {
  const last = isInDatabase(host) && !said.ephemeral ? lastLaunch(host.places).store : undefined
  return said.store ?? host.system.env['SOUK_STORE'] ?? last
}

/** Targets of alarms: the typed ones, else those of the environment. */
export function notifyOf(
  { system }: Pick<CommandContext<unknown, unknown>, 'system'>,
  { notify }: { notify?: string[] | undefined },
) {
  if (notify !== undefined && notify.length > 0) return notify
  const { SOUK_NOTIFY: said } = system.env
  return said ? launchOptions.notify.parse(splitAlarmTargets(said)) : undefined
}

/** The signer: the typed one, else that of the environment. */
export function signerOf(
  { system }: Pick<CommandContext<unknown, unknown>, 'system'>,
  { signer }: { signer?: string | undefined },
) {
  return signer ?? launchOptions.signer.parse(system.env['SOUK_SIGNER'] || undefined)
}

/** Checks what a database cannot do. @throws CliError `usage` */
export function checkStore({ store, spare, advertise, ephemeral, seed, rows }: Launch): void {
  if (store === undefined && spare) throw usage('--spare needs a database that daemons share: add --store.')
  if (store === undefined && advertise)
    throw usage('--advertise is for daemons that share a database: add --store, or omit it.')
  if (store === undefined) return
  if (ephemeral) throw usage('--ephemeral keeps no data, but --store or SOUK_STORE names a database: omit one of them.')
  if (rows !== undefined) throw usage('--rows is for a marketplace in files: omit it, or omit --store and SOUK_STORE.')
  if (seed === DEMO)
    throw usage('The demo history is written into files: omit --store and SOUK_STORE, or use --seed house.')
}

/**
 * Options as command line words for the child process, without those that may have a password, which other users would
 * see: store, targets of alarms, signer.
 */
export function launchWords({ store: _, notify: __, signer: ___, ...launch }: Typed): string[] {
  return Object.entries(launch).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    const flag = `--${kebab(name)}`
    if (value === true) return [flag]
    const given = Array.isArray(value) ? value : [value]
    return given.map((one) => `${flag}=${FILES.has(name) ? wholePath(String(one)) : one}`)
  })
}

/** The daemon's configuration for the facilitator; undefined if the facilitator is off. */
export function facilitatorConfig(launch: z.output<typeof Facilitating>): { facilitator?: FacilitatorConfig } {
  if (!launch.facilitator) return {}
  const { facilitatorPayTo: payees, facilitatorMinValue: least, facilitatorDailyGas: dailyGas } = launch
  const minValue = least === undefined ? undefined : parseAmount(least)
  return { facilitator: { payTo: payees.map(toWallet), ...compact({ minValue, dailyGas }) } }
}
