import type { Usdc } from '../core/money.ts'
import { keysOf } from '../core/record.ts'
import { palettes } from '../text/text.ts'

/** Values of `--debug=`. */
export const DEBUG_TOPICS: readonly string[] = ['http']

/** A global option. The parser, the environment variables and the help are derived from these. */
export type GlobalOption = {
  readonly key: string
  readonly flags: string
  readonly summary: string
  readonly env?: string
  readonly choices?: readonly string[]
  /** Not listed in the help. Example: `--wait-for`, which takes the value of `--wait[=VALUE]`. */
  readonly hidden?: true
}

const options = {
  remote: { flags: '-r, --remote <name>', env: 'SOUK_REMOTE', summary: 'remote instance to use (default: local)' },
  baseUrl: { flags: '--base-url <url>', env: 'SOUK_BASE_URL', summary: 'URL of an instance that is not saved' },
  instance: {
    flags: '--instance <name>',
    env: 'SOUK_INSTANCE',
    summary: 'name of the local daemon, if several run (default: default)',
  },
  as: { flags: '--as <wallet>', env: 'SOUK_AS', summary: 'wallet to act as' },
  pay: {
    flags: '--pay <how>',
    env: 'SOUK_PAY',
    choices: ['auto', 'balance', 'x402', 'none'],
    summary: 'payment method (default: auto, balance first)',
  },
  maxPrice: {
    flags: '--max-price <usd>',
    env: 'SOUK_MAX_PRICE',
    summary: 'spending limit for this command, in USDC (default: 1.00)',
  },
  json: { flags: '--json', summary: 'print JSON' },
  ndjson: { flags: '--ndjson', summary: 'print one JSON line per row or event' },
  fields: { flags: '--fields <a,b.c>', summary: 'print only these JSON fields' },
  jq: { flags: '-q, --jq <expr>', summary: 'filter the JSON with a jq expression' },
  tsv: { flags: '--tsv', summary: 'print tab-separated rows' },
  header: { flags: '--header', summary: 'add a header row to TSV' },
  dryRun: { flags: '--dry-run', summary: 'show the request without sending it' },
  yes: { flags: '-y, --yes', summary: 'answer yes to all confirmations' },
  noInput: { flags: '--no-input', env: 'SOUK_NO_INPUT', summary: 'never ask for input' },
  confirm: { flags: '--confirm <name>', summary: 'name of the protected remote, which confirms the change' },
  wait: { flags: '--wait', summary: 'wait until the operation ends; --wait=30s sets a limit' },
  waitFor: { flags: '--wait-for <duration>', hidden: true, summary: '' },
  timeout: { flags: '--timeout <duration>', env: 'SOUK_TIMEOUT', summary: 'time limit for a response and for --wait' },
  idempotencyKey: { flags: '--idempotency-key <key>', summary: 'idempotency key: a repeated request runs once' },
  color: {
    flags: '--color <when>',
    choices: ['auto', 'always', 'never'],
    summary: 'color the output; NO_COLOR and CLICOLOR=0 turn colors off',
  },
  palette: {
    flags: '--palette <name>',
    env: 'SOUK_PALETTE',
    choices: palettes,
    summary: 'colors: default, cb (for color blindness) or mono',
  },
  ascii: { flags: '--ascii', env: 'SOUK_ASCII', summary: 'use ASCII characters only' },
  utc: { flags: '--utc', env: 'SOUK_UTC', summary: 'show times in UTC' },
  iso: { flags: '--iso', summary: 'show ISO 8601 times' },
  quiet: { flags: '--quiet', summary: 'print data and errors only' },
  noPager: { flags: '--no-pager', env: 'SOUK_NO_PAGER', summary: 'print long output without a pager' },
  verbose: { flags: '-v, --verbose', summary: 'print each step' },
  debug: {
    flags: '--debug',
    env: 'SOUK_DEBUG',
    summary: 'show requests and stack traces; --debug=http shows requests with their bodies',
  },
  debugTopic: { flags: '--debug-topic <what>', hidden: true, summary: '' },
  config: { flags: '--config <dir>', env: 'SOUK_CONFIG_DIR', summary: 'folder with wallets, remotes and settings' },
  data: { flags: '--data <dir>', env: 'SOUK_DATA_DIR', summary: 'folder with the data of the local daemon' },
} as const satisfies Readonly<Record<string, Omit<GlobalOption, 'key'>>>

export const globalOptions = keysOf(options).map((key) => ({ key, ...options[key] }))

export type GlobalKey = keyof typeof options
/** Values as typed: text, or true for flags. */
export type RawGlobals = { readonly [K in GlobalKey]?: string | boolean }

/** Adds environment values; empty ones count as unset. */
export function withEnvironment(given: RawGlobals, env: Readonly<Record<string, string | undefined>>): RawGlobals {
  const inherited = globalOptions.flatMap((option) => {
    const value = 'env' in option ? env[option.env] : undefined
    if (!value) return []
    if (option.key === 'debug' && DEBUG_TOPICS.includes(value)) return [['debugTopic', value] as const]
    return [[option.key, takesValue(option) ? value : !['0', 'false', 'no'].includes(value)] as const]
  })
  return { ...Object.fromEntries(inherited), ...given }
}

/** Environment variable that sets the output format if no flag does. */
export const OUTPUT_VARIABLE = 'SOUK_OUTPUT'
const outputs = ['human', 'json', 'ndjson', 'tsv'] as const
const FORMS: readonly GlobalKey[] = ['json', 'ndjson', 'tsv', 'fields', 'jq']

/** Output format that `OUTPUT_VARIABLE` sets in the environment; undefined if unset or invalid. */
export function outputOf(env: Readonly<Record<string, string | undefined>>): (typeof outputs)[number] | undefined {
  return outputs.find((one) => one === env[OUTPUT_VARIABLE])
}

/** Applies the output format that an environment variable sets. @returns the fault if the value is invalid */
export function withOutput(
  given: RawGlobals,
  env: Readonly<Record<string, string | undefined>>,
): RawGlobals | { readonly refusal: string } {
  const said = env[OUTPUT_VARIABLE]
  if (!said || FORMS.some((form) => given[form] !== undefined)) return given
  const output = outputOf(env)
  if (output === undefined) {
    return { refusal: `${OUTPUT_VARIABLE} must be one of ${outputs.join(', ')}; it is "${said}".` }
  }
  return output === 'human' ? given : { ...given, [output]: true }
}

/** Options that `souk config set` can save. Remote and wallet are chosen by their own commands. */
const KEPT: readonly GlobalKey[] = ['pay', 'maxPrice', 'timeout', 'noInput', 'color', 'palette', 'ascii']
export const keptOptions: readonly GlobalOption[] = globalOptions.filter(({ key }) => KEPT.includes(key))

/** Adds saved values. */
export function withKept(given: RawGlobals, kept: Readonly<Record<string, string>> = {}): RawGlobals {
  const found = keptOptions.flatMap((option) => {
    const value = kept[option.key]
    if (value === undefined || value === '') return []
    return [[option.key, takesValue(option) ? value : value === 'true'] as const]
  })
  return found.length === 0 ? given : { ...Object.fromEntries(found), ...given }
}

/** Waiting time in milliseconds: `--wait=`, else `--timeout`, else unlimited. */
export function patienceMs({ wait, timeoutMs }: Pick<Globals, 'wait' | 'timeoutMs'>): number {
  return typeof wait === 'number' ? wait : (timeoutMs ?? Number.POSITIVE_INFINITY)
}

export function takesValue(option: GlobalOption): boolean {
  return option.flags.includes('<')
}

// Commander would take the next positional as the value, so `--wait=30s` is first changed to `--wait-for=30s`.
const OPTIONAL_VALUES: Readonly<Record<string, string>> = { '--wait': '--wait-for', '--debug': '--debug-topic' }

/** `--wait=30s` → `--wait-for=30s`; words after `--` stay. */
export function splitOptionalValues(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.map((word, i) => {
    const [flag = '', ...value] = word.split('=')
    const other = Object.hasOwn(OPTIONAL_VALUES, flag) ? OPTIONAL_VALUES[flag] : undefined
    return other === undefined || value.length === 0 || (end >= 0 && i > end) ? word : `${other}=${value.join('=')}`
  })
}

/** Options that every command accepts. They come from flags, or else from the environment. */
export type Globals = {
  readonly remote?: string
  readonly baseUrl?: string
  readonly as?: string
  readonly pay: 'auto' | 'balance' | 'x402' | 'none'
  /** Limit for the sum of all payments of the command. */
  readonly maxPrice: Usdc
  readonly fields?: readonly string[]
  readonly jq?: string
  readonly header: boolean
  readonly dryRun: boolean
  readonly yes: boolean
  /** Name of the remote, typed in advance to confirm a change. */
  readonly confirm?: string
  /** How long to wait for completion: `true` is without limit, a number is milliseconds. */
  readonly wait: boolean | number
  readonly timeoutMs?: number
  readonly idempotencyKey?: string
}
