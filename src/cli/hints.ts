import type { Env } from '../client/settings.ts'
import { cyan, dim, shellWord } from '../text/text.ts'
import { type GlobalOption, globalOptions, takesValue } from './globals.ts'

/** The command line as typed, with its environment. */
type Typed = {
  readonly argv: readonly string[]
  readonly env: Env
  /** How the program was started, such as `npx souk`. */
  readonly program: string
  readonly onHint?: (line: string) => void
}

/** Options of the typed command that a suggested command must repeat. */
type InForce = { readonly flags: readonly string[]; readonly env?: string }

const where: readonly InForce[] = [
  { flags: ['--remote', '-r'], env: 'SOUK_REMOTE' },
  { flags: ['--base-url'], env: 'SOUK_BASE_URL' },
]
const instance: InForce = { flags: ['--instance'], env: 'SOUK_INSTANCE' }
const who: InForce = { flags: ['--as'], env: 'SOUK_AS' }
const folders: readonly InForce[] = [{ flags: ['--config'] }, { flags: ['--data'] }]

/** Commands about the program itself. When souk suggests them, it repeats no options. */
const ABOUT_NOTHING = new Set(['help', 'version', 'completion'])
/** Commands about this machine's daemon. When souk suggests them, it repeats no remote and no wallet. */
const ABOUT_DAEMON = new Set('up down restart reset restore import snapshots store doctor tour'.split(' '))
const ABOUT_CONFIG = new Set(['config', 'remote'])
/** Commands that need no wallet. */
const BY_NOBODY = new Set([
  'admin',
  'clock',
  'compliance',
  'crons',
  'endpoints',
  'health',
  'logs',
  'money',
  'openapi',
  'status',
])
/** Verbs of `souk wallet` after which the name of a wallet is typed. */
const NAMES_WALLET = new Set(['new', 'import', 'use', 'remove', 'fund'])

/** Whether a command needs no wallet, because it concerns this machine or the operator. */
export function isOfNobody(command: string): boolean {
  const [noun = ''] = command.split(' ')
  return [ABOUT_DAEMON, ABOUT_CONFIG, BY_NOBODY].some((nouns) => nouns.has(noun))
}

/** Prefix of a suggestion to repeat the typed line with something added. */
const AGAIN = '… '
/** Begins a suggestion that repeats the typed line without a flag. */
const WITHOUT = '… without '
const PROGRAM = 'souk'
const SHORT_FLAG_CHARS = '-r'.length

/**
 * A suggested command for pasting, with the program, remote, instance and wallet of the typed line. `… --flag` stands
 * for the typed line with that flag, `… without --flag` for the line without it.
 */
export function hintOf(system: Typed, command: string): string {
  const spelled = spellingOf(system, command)
  system.onHint?.(spelled)
  return spelled
}

/** Matches a command that consists of plain words, and of words with spaces in double quotes. */
const PLAIN_COMMAND = /^souk(?: (?:[\w./:@=,%+-]+|"[\w .,-]*"))+$/

/** Formats a command that an instance suggests: ready to paste if it matches `PLAIN_COMMAND`, else as dimmed text. */
export function suggestedBy(io: { hint(command: string): string }, command: string): string {
  return PLAIN_COMMAND.test(command) ? cyan(`→ ${io.hint(command)}`) : dim(command)
}

function spellingOf(system: Typed, command: string): string {
  const { program, argv } = system
  if (command.startsWith(WITHOUT)) {
    return [program, ...argv.filter((word) => word !== command.slice(WITHOUT.length)).map(shellWord)].join(' ')
  }
  if (command.startsWith(AGAIN)) return again(system, command.slice(AGAIN.length))
  if (command !== PROGRAM && !command.startsWith(`${PROGRAM} `)) return command
  const more = relevant(command).flatMap((one) => said(system, one))
  const [before = command, ...behind] = command.split(/(?= -- )/)
  return `${program}${before.slice(PROGRAM.length)}${more.map((word) => ` ${word}`).join('')}${behind.join('')}`
}

/** The typed line with a flag added before `--`. If the line has the flag already, its value is replaced. */
function again({ program, argv }: Typed, more: string): string {
  const [flag = ''] = more.split(' ')
  const option = globalOptions.find(({ flags }) => namesOf(flags).includes(flag))
  const end = argv.indexOf('--')
  const [before, behind] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)]
  const kept = option === undefined ? before : without(before, option)
  return [program, ...kept.map(shellWord), more, ...behind.map(shellWord)].join(' ')
}

function namesOf(flags: string): readonly string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith('-'))
}

function without(words: readonly string[], option: GlobalOption): readonly string[] {
  const names = namesOf(option.flags)
  const isIt = (word: string | undefined) => names.some((name) => word === name || word?.startsWith(`${name}=`))
  const takes = takesValue(option)
  return words.filter((word, at) => !isIt(word) && !(takes && names.includes(words[at - 1] ?? '')))
}

function relevant(command: string): readonly InForce[] {
  const [, noun = '', verb = '', subject] = command.split(' ')
  if (ABOUT_NOTHING.has(noun) || command.endsWith(' --help')) return []
  const says = ({ flags }: InForce) => flags.some((flag) => command.includes(` ${flag} `))
  const unsaid = (all: readonly InForce[]) => all.filter((one) => !says(one))
  if (ABOUT_CONFIG.has(noun)) return unsaid(folders)
  if (ABOUT_DAEMON.has(noun)) return unsaid([instance, ...folders])
  const places = where.some(says) ? [] : [...where, instance]
  const isOfAnybody = verb === 'list' || (NAMES_WALLET.has(verb) && subject !== undefined)
  const isOwn = !BY_NOBODY.has(noun) && !(noun === 'wallet' && isOfAnybody)
  return unsaid([...places, ...(isOwn ? [who] : []), ...folders])
}

function said({ argv, env }: Typed, { flags, env: variable }: InForce): string[] {
  const value = typed(argv, flags) ?? (variable === undefined ? undefined : env[variable])
  return value === undefined || value === '' ? [] : [flags[0] ?? '', shellWord(value)]
}

/** Last typed value of a flag; undefined if the flag was not typed. */
function typed(argv: readonly string[], flags: readonly string[]): string | undefined {
  const end = argv.indexOf('--')
  const words = end < 0 ? argv : argv.slice(0, end)
  const isShort = (flag: string) => flag.length === SHORT_FLAG_CHARS
  const begins = (word: string, flag: string) => word.startsWith(isShort(flag) ? flag : `${flag}=`)
  const at = words.findLastIndex((word) => flags.some((flag) => word === flag || begins(word, flag)))
  const word = words[at]
  if (word === undefined || flags.includes(word)) return word && words[at + 1]
  return word.startsWith('--') ? word.slice(word.indexOf('=') + 1) : word.slice(SHORT_FLAG_CHARS).replace(/^=/, '')
}

type Started = {
  readonly env: Env
  /** The started script or packaged binary. */
  readonly file: string
  readonly isPacked: boolean
  readonly folder: string
}

/** Link of npx. */
const LINK = /[\\/]node_modules[\\/]\.bin[\\/]souk$/

/**
 * Whether an npm script of this checkout, such as `npm start`, started the program. Programs started by other npm
 * scripts inherit the same variables, so `file` must be in the checkout too.
 */
function isOfCheckout({ npm_lifecycle_event: script, npm_package_json: manifest }: Env, file: string): boolean {
  const folder = manifest?.replace(/package\.json$/, '')
  return script !== undefined && folder !== undefined && folder !== '' && file.startsWith(folder)
}

/** What a user types to start this program again from the same folder, such as `npx souk`. */
export function programOf({ env, file, isPacked, folder }: Started): string {
  const name = file.split(/[\\/]/).at(-1) ?? PROGRAM
  if (LINK.test(file)) return `npx ${PROGRAM}`
  if (isOfCheckout(env, file)) return `bin/${PROGRAM}`
  if (!file.includes('/') && !file.includes('\\')) return shellWord(name)
  const parent = file.slice(0, -name.length - 1)
  if (/^souk(\.exe)?$/.test(name) && (env.PATH ?? '').split(':').includes(parent)) return PROGRAM
  const near = file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file
  const path = near.includes('/') ? near : `./${near}`
  return isPacked || !/\.[jt]s$/.test(name) ? shellWord(path) : `node ${shellWord(near)}`
}
