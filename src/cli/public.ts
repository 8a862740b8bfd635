import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { type Places, readSettings } from '../client/settings.ts'
import { readAlarmTarget, readQuietHours, splitAlarmTargets } from '../core/alarm-target.ts'
import { httpUrl } from '../core/loopback.ts'
import { compact } from '../core/record.ts'
import { readSigner } from '../core/signer-target.ts'
import { kebab } from '../text/text.ts'
import { usage } from './exit.ts'
import type { GlobalOption } from './globals.ts'
import { membersOf, shapeOf } from './option-shape.ts'
import * as z from './params.ts'

/** Form of a `Host` header: dotted labels with an optional port. */
const HOST_NAME = /^(?=.{1,253}(?::|$))[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?(:\d{1,5})?$/i
const MOST_NAMES = 50
const MOST_TARGETS = 10
export const DEFAULT_PORT = 4_020
export const PORT_MAX = 65_535
const BITS = { 4: 32, 6: 128 } as const

/** A URL with no path: the paths of endpoints are appended to it. */
const PublicUrl = z.string().refine(isOrigin, 'must be like https://souk.example.org: no path, query or credentials')
const HostName = z.string().regex(HOST_NAME, 'must be a host name like souk.example.org, with a port if it has one')
const AlarmTargetText = z
  .string()
  .refine(
    (text) => readAlarmTarget(text) !== undefined,
    'must be exec:COMMAND, webhook:https://… or smtp://HOST?to=ADDRESS',
  )
const SignerText = z
  .string()
  .refine(
    (text) => readSigner(text) !== undefined,
    'must be exec:COMMAND, https://… or http:// on this machine, without a password',
  )
const QuietHours = z.string().refine((text) => readQuietHours(text) !== undefined, 'must be like 22:00-07:00')
const ProxyBlock = z.string().refine(isBlock, 'must be an address like 10.0.0.2 or a block like 10.0.0.0/24')

/** Options that make a daemon reachable from other machines, and reach others itself. */
export const publicOptions = {
  port: z
    .between(0, PORT_MAX)
    .optional()
    .meta({
      description: `port to listen on, 0 for any free port (default: last used, or ${DEFAULT_PORT})`,
      value: 'n',
    }),
  publicUrl: PublicUrl.optional().meta({ description: 'public URL, used in all links', value: 'url' }),
  allowHost: z
    .array(HostName)
    .max(MOST_NAMES)
    .default([])
    .meta({ description: 'additional host name that requests may use', value: 'name' }),
  trustProxy: z
    .array(ProxyBlock)
    .max(MOST_NAMES)
    .default([])
    .meta({ description: 'proxy whose X-Forwarded-* headers are trusted', value: 'address' }),
  notify: z.array(AlarmTargetText).max(MOST_TARGETS).default([]).meta({
    description:
      'target of alarms: exec:COMMAND, webhook:URL or smtp://USER:PASSWORD@HOST?to=ADDRESS (default: SOUK_NOTIFY)',
    value: 'target',
  }),
  signer: SignerText.optional().meta({
    description: 'signer that has keys instead of this machine: exec:COMMAND or URL (default: SOUK_SIGNER)',
    value: 'signer',
  }),
  quietHours: QuietHours.optional().meta({
    description: 'local hours in which only alarms that stop sales are sent, such as 22:00-07:00',
    value: 'hours',
  }),
  plainPayments: z.flag({ description: 'accept payments over plain HTTP from other machines' }),
  publicFaucet: z.flag({ description: 'also give test money to clients on other machines' }),
} as const

const Public = z.object(publicOptions)
type Public = z.output<typeof Public>

type Setting = GlobalOption & { readonly key: Exclude<keyof Public, 'plainPayments' | 'publicFaucet'> }

/** Settings of the daemon that `souk config set` saves: its options with a value. Lists are comma-separated. */
export const daemonSettings = membersOf(Public).flatMap(([key, { kind, list, value, summary }]): Setting[] => {
  const said = `souk up: ${summary}${list ? ', several with commas' : ''}`
  return kind === 'flag' ? [] : [{ key: key as Setting['key'], flags: `--${kebab(key)} <${value}>`, summary: said }]
})

/** @throws CliError `usage` for an invalid value */
export function checkDaemonSetting(key: string, value: string): void {
  const setting = daemonSettings.find((one) => one.key === key)
  if (setting) typed(setting, value)
}

/** Adds saved settings where the launch has no value. @throws CliError `usage` for an invalid saved setting */
export function withDaemonSettings<L extends Public>(places: Places, launch: L): L {
  const { options = {} } = readSettings(places)
  const kept = daemonSettings.flatMap((setting) => {
    const isGiven = [launch[setting.key] ?? []].flat().length > 0
    const value = options[setting.key]
    return isGiven || value === undefined || value === '' ? [] : [[setting.key, typed(setting, value)] as const]
  })
  return { ...launch, ...Object.fromEntries(kept) }
}

/** Removes launch options that equal the saved settings, because the next start reads those settings again. */
export function withoutDaemonSettings<L extends Public>(places: Places, launch: L): L {
  const { options = {} } = readSettings(places)
  const kept = daemonSettings.filter((setting) => {
    const value = options[setting.key]
    return value !== undefined && value !== '' && isDeepStrictEqual(launch[setting.key], typed(setting, value))
  })
  const none = kept.map(({ key }) => [key, isList(key) ? [] : undefined] as const)
  return { ...launch, ...Object.fromEntries(none) }
}

const isList = (key: Setting['key']) => shapeOf(publicOptions[key]).list

function typed({ key }: Setting, value: string): unknown {
  const one = key === 'port' ? Number(value) : value
  const parsed = publicOptions[key].safeParse(isList(key) ? listIn(key, value) : one)
  if (parsed.success) return parsed.data
  throw usage(`${kebab(key)} ${parsed.error.issues[0]?.message}; you gave "${value}".`)
}

function listIn(key: Setting['key'], value: string): string[] {
  return (key === 'notify' ? splitAlarmTargets(value) : value.split(',')).map((part) => part.trim())
}

/** The part of the daemon's configuration that these options set. */
export function publicConfig({ publicUrl, allowHost, trustProxy, plainPayments, publicFaucet, ...alarms }: Public) {
  const { notify, quietHours } = alarms
  return {
    ...(publicUrl === undefined ? {} : { publicUrl: new URL(publicUrl).origin }),
    ...(allowHost.length === 0 ? {} : { hosts: allowHost }),
    ...(trustProxy.length === 0 ? {} : { trustedProxies: trustProxy }),
    ...(plainPayments ? { plainPayments } : {}),
    ...(publicFaucet ? { publicFaucet } : {}),
    ...(notify.length === 0 ? {} : { notify }),
    ...compact({ quietHours }),
  }
}

function isOrigin(text: string): boolean {
  const url = httpUrl(text)
  if (!url || url.username || url.password) return false
  return url.pathname === '/' && !url.search && !url.hash && !text.endsWith('?') && !text.endsWith('#')
}

function isBlock(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= BITS[family === 4 ? 4 : 6])
}

type SavedSettings = { readonly [K in Setting['key']]?: Public[K] | undefined }

/** Options of the last launch, except where a new flag or a saved setting gives another value. */
export function relaunched<L extends Public>(places: Places, last: L, said: SavedSettings): L {
  const { port, publicUrl, quietHours, signer, allowHost = [], trustProxy = [], notify = [] } = said
  const flags = { allowHost, trustProxy, notify, ...compact({ port, publicUrl, quietHours, signer }) }
  const asked = withDaemonSettings(places, {
    ...flags,
    plainPayments: last.plainPayments,
    publicFaucet: last.publicFaucet,
  })
  const known = Object.entries(asked).filter(([, value]) => [value].flat().length > 0)
  return { ...last, ...Object.fromEntries(known) }
}
