import type { Env } from '../client/paths.ts'
import { cyan, dim, shellWord } from '../text/text.ts'
import { type GlobalOption, globalOptions, takesValue } from './globals.ts'

/** The line that was typed, and with what. */
type Typed = {
  readonly argv: readonly string[]
  readonly env: Env
  /** As it was started. */
  readonly program: string
  readonly onHint?: (line: string) => void
}

/** What of the line that was typed, or of its environment, a further line has to say again to mean the same. */
type InForce = { readonly flags: readonly string[]; readonly env?: string }

const where: readonly InForce[] = [
  { flags: ['--remote', '-r'], env: 'SOUK_REMOTE' },
  { flags: ['--base-url'], env: 'SOUK_BASE_URL' },
]
const instance: InForce = { flags: ['--instance'], env: 'SOUK_INSTANCE' }
const who: InForce = { flags: ['--as'], env: 'SOUK_AS' }
const folders: readonly InForce[] = [{ flags: ['--config'] }, { flags: ['--data'] }]

/** They are about nothing but the program itself. */
const ABOUT_NOTHING = new Set(['help', 'version', 'completion'])
/** They are about this machine: its daemon, or what is kept here. */
const ABOUT_DAEMON = new Set(['up', 'down', 'restart', 'reset', 'restore', 'import', 'snapshots', 'doctor', 'tour'])
const ABOUT_CONFIG = new Set(['config', 'remote'])
/** They are asked by whoever runs a marketplace, or by nobody in particular. */
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
/** Verbs of `souk wallet` that name the wallet that they are about. */
const NAMES_WALLET = new Set(['new', 'import', 'use', 'remove', 'list', 'fund'])

/** A line that was meant to follow: the one that was typed, with more. */
const AGAIN = '… '
/** The same, with a flag less. */
const WITHOUT = '… without '
const PROGRAM = 'souk'
const SHORT_FLAG_CHARS = '-r'.length

/**
 * A suggested command as it can be pasted: with the program as it was started, and with the remote, instance and wallet
 * in force. Every suggestion goes through here. `… --flag` is the line that was typed with a flag
 * more, `… without --flag` with one less.
 */
export function hintOf(system: Typed, command: string): string {
  const spelled = spellingOf(system, command)
  system.onHint?.(spelled)
  return spelled
}

/** A command of plain words; what a shell would read otherwise stands between double quotes. */
const PLAIN_COMMAND = /^souk(?: (?:[\w./:@=,%+-]+|"[\w .,-]*"))+$/

/** A command that an instance suggests. One that could do anything else than it says is text, and no suggestion. */
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

/** The line that was typed with a flag more: before what is for another program, and instead of what it said of it. */
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

/** Words without a global option and its value. */
function without(words: readonly string[], option: GlobalOption): readonly string[] {
  const names = namesOf(option.flags)
  const isIt = (word: string | undefined) => names.some((name) => word === name || word?.startsWith(`${name}=`))
  const takes = takesValue(option)
  return words.filter((word, at) => !isIt(word) && !(takes && names.includes(words[at - 1] ?? '')))
}

/** What a command has to be told, and does not say itself. */
function relevant(command: string): readonly InForce[] {
  const [, noun = '', verb = '', subject] = command.split(' ')
  if (ABOUT_NOTHING.has(noun) || command.endsWith(' --help')) return []
  const says = ({ flags }: InForce) => flags.some((flag) => command.includes(` ${flag} `))
  const unsaid = (all: readonly InForce[]) => all.filter((one) => !says(one))
  if (ABOUT_CONFIG.has(noun)) return unsaid(folders)
  if (ABOUT_DAEMON.has(noun)) return unsaid([instance, ...folders])
  const places = where.some(says) ? [] : [...where, instance]
  const isOwn = !BY_NOBODY.has(noun) && !(noun === 'wallet' && NAMES_WALLET.has(verb) && subject !== undefined)
  return unsaid([...places, ...(isOwn ? [who] : []), ...folders])
}

function said({ argv, env }: Typed, { flags, env: variable }: InForce): string[] {
  const value = typed(argv, flags) ?? (variable === undefined ? undefined : env[variable])
  return value === undefined || value === '' ? [] : [flags[0] ?? '', shellWord(value)]
}

/** The value that a flag was last given. */
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
  /** The script that was started, or the packed program as it was typed. */
  readonly file: string
  readonly isPacked: boolean
  readonly folder: string
}

/** Where npx finds the program again. */
const LINK = /[\\/]node_modules[\\/]\.bin[\\/]souk$/

/**
 * Whether a script of its own checkout started the program, such as `npm start`. A variable of npm alone says nothing:
 * whatever a script of another package starts inherits them.
 */
function isOfCheckout({ npm_lifecycle_event: script, npm_package_json: manifest }: Env, file: string): boolean {
  const folder = manifest?.replace(/package\.json$/, '')
  return script !== undefined && folder !== undefined && folder !== '' && file.startsWith(folder)
}

/** How this program was started, as words that start it again from the same folder. */
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
