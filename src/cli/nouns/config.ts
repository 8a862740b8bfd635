import { changeSettings, LOCAL, readSettings } from '../../client/settings.ts'
import { readAlarmTarget, splitAlarmTargets } from '../../core/alarm-target.ts'
import { readSigner } from '../../core/signer-target.ts'
import { didYouMean, kebab } from '../../text/text.ts'
import type { CommandContext } from '../command.ts'
import { usage } from '../exit.ts'
import { type GlobalOption, keptOptions, type RawGlobals, takesValue } from '../globals.ts'
import type { Column } from '../output.ts'
import { checkDaemonSetting, daemonSettings } from '../public.ts'

/** All options that can be saved, of the command line and of the daemon. */
const all: readonly GlobalOption[] = [...keptOptions, ...daemonSettings]

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'system'>
export type KeptSetting = {
  readonly key: string
  readonly value: string | null
  readonly origin: 'environment' | 'settings' | 'default'
  readonly summary: string
}

export const columns: readonly Column<KeptSetting>[] = [
  { title: 'KEY', value: ({ key }) => key },
  { title: 'VALUE', value: ({ value }) => value },
  { title: 'FROM', value: ({ origin }) => origin },
  { title: 'WHAT', value: ({ summary }) => summary, flexible: true, drop: 1 },
]

/** Remote and wallet are set by their own commands. */
const CHOSEN = ['remote', 'wallet'] as const

export function allKept(host: Context): readonly KeptSetting[] {
  const { remote = LOCAL, wallet, options = {} } = readSettings(host.places)
  const { SOUK_REMOTE, SOUK_AS } = host.system.env
  return [
    row({ key: 'remote', env: SOUK_REMOTE, kept: remote, summary: 'instance to use; change it with souk remote use' }),
    row({ key: 'wallet', env: SOUK_AS, kept: wallet, summary: 'wallet to act as; change it with souk wallet use' }),
    ...all.map((option) =>
      row({
        key: kebab(option.key),
        env: option.env === undefined ? undefined : host.system.env[option.env],
        kept: options[option.key],
        summary: option.summary,
      }),
    ),
  ]
}

type Found = { key: string; env: string | undefined; kept: string | undefined; summary: string }

function row({ key, env, kept, summary }: Found): KeptSetting {
  if (env) return { key, value: shownOf(key, env), origin: 'environment', summary }
  return { key, value: shownOf(key, kept) ?? null, origin: kept === undefined ? 'default' : 'settings', summary }
}

/** A value without what may be secret: passwords and tokens of alarm targets, arguments and path of a signer. */
function shownOf<T extends string | undefined>(key: string, value: T): T | string {
  if (key === 'signer' && value !== undefined) return readSigner(value)?.shown ?? value
  if (key !== 'notify' || value === undefined) return value
  return splitAlarmTargets(value)
    .map((target) => readAlarmTarget(target.trim())?.shown)
    .join(', ')
}

/** Allowed values of a setting; empty if it takes any value or is unknown. */
export function choicesOf(key: string): readonly string[] {
  const option = all.find((one) => kebab(one.key) === key)
  if (option === undefined) return []
  return option.choices ?? (takesValue(option) ? [] : ['true', 'false'])
}

export function oneKept(host: Context, key: string): KeptSetting {
  return allKept(host).find((one) => one.key === key) ?? unknownKey(key)
}

/** @throws CliError usage for an unknown key, naming the command that sets it, if there is one */
export function settable(key: string): GlobalOption {
  const chosen = CHOSEN.find((one) => one === key)
  if (chosen !== undefined)
    throw usage(`${key} cannot be set here; use its own command.`, { next: [`souk ${key} use NAME`] })
  return all.find((option) => kebab(option.key) === key) ?? unknownKey(key)
}

function unknownKey(key: string): never {
  const keys = [...CHOSEN, ...all.map((option) => kebab(option.key))]
  throw usage(`There is no setting "${key}"${didYouMean(key, keys)}.`, {
    facts: [`settings: ${keys.join(', ')}`],
    next: ['souk config list'],
  })
}

export function keep({ places }: Context, option: GlobalOption, value: string | undefined): void {
  const { [option.key]: _before, ...others } = readSettings(places).options ?? {}
  changeSettings(places, { options: value === undefined ? others : { ...others, [option.key]: value } })
}

/** Checks an option's typed value and returns it; {} for a daemon setting. @throws CliError `usage` */
export function typedAs(option: GlobalOption, value: string): RawGlobals {
  if (daemonSettings.some(({ key }) => key === option.key)) {
    checkDaemonSetting(option.key, value)
    return {}
  }
  const allowed = takesValue(option) ? option.choices : ['true', 'false']
  if (allowed && !allowed.includes(value)) {
    throw usage(`${kebab(option.key)} must be one of ${allowed.join(', ')}; you gave "${value}".`)
  }
  return takesValue(option) ? { [option.key]: value } : { [option.key]: value === 'true' }
}

/** All settings as a draft for the editor. Settings without a saved value are comments. */
export function draftOf(host: Context): string {
  const { options = {} } = readSettings(host.places)
  const lines = all.flatMap((option) => {
    const value = options[option.key]
    const choices = choicesOf(kebab(option.key))
    const name = kebab(option.key)
    return [
      `# ${option.summary}${choices.length === 0 ? '' : ` (${choices.join(', ')})`}`,
      value === undefined ? `# ${name}: ` : `${name}: ${JSON.stringify(value)}`,
      '',
    ]
  })
  return [...lines, '# To reset a setting to its default, delete its line.', ''].join('\n')
}

/** Saves a whole draft or nothing. @throws CliError `usage` for an unknown or invalid setting */
export async function changeKept(
  host: Context,
  draft: Readonly<Record<string, unknown>>,
  check: (raw: RawGlobals) => Promise<unknown>,
): Promise<readonly { readonly key: string; readonly value: string | null }[]> {
  const wanted: Record<string, string> = {}
  for (const [key, given] of Object.entries(draft)) {
    if (given === null) continue
    const option = settable(key)
    if (typeof given === 'object') throw usage(`${key} must be one word; you gave ${JSON.stringify(given)}.`)
    await check(typedAs(option, String(given)))
    wanted[option.key] = String(given)
  }
  const { options = {} } = readSettings(host.places)
  changeSettings(host.places, { options: wanted })
  const keys = new Set([...Object.keys(options), ...Object.keys(wanted)])
  return [...keys]
    .filter((key) => options[key] !== wanted[key])
    .map((key) => ({ key: kebab(key), value: wanted[key] ?? null }))
}
