import { hanging, wrap } from '../../text/text.ts'

/** Commands by purpose, in the order in which a new user needs them. */
export const purposes = {
  START: ['tour', 'up', 'down', 'status', 'tui'],
  BUY: ['services', 'buy', 'jobs', 'threads', 'balance', 'subs', 'products', 'purchases'],
  SELL: ['provide', 'services create', 'plans', 'requests', 'earnings', 'webhooks', 'listen'],
  TEST: ['clock', 'trigger', 'seed', 'snapshots', 'logs', 'why'],
  OPERATE: ['admin', 'attention', 'money', 'crons', 'chain', 'doctor', 'health'],
  SETTINGS: ['account', 'wallet', 'remote', 'config', 'mcp', 'completion'],
} as const

const examples = {
  'souk tour': 'make a first purchase, step by step',
  'souk up --seed demo': 'start a marketplace with demo users',
  'souk buy qr_code -i data=hello --quote': 'show the price; pay nothing',
  'souk buy qr_code -i data=hello': 'pay and get the result',
  'souk services create --example > my.yaml': 'write a listing to start from',
  "souk provide --listing my.yaml --exec 'node work.js'": 'offer the listing: run a command for each job',
  'souk attention': 'list disputes and other problems, with the next command',
  'souk as NAME COMMAND': 'run a command as another wallet',
} as const

const more = { 'souk help COMMAND': 'options and examples of a command', 'souk help --all': 'every command' } as const

export const synonyms = {
  start: ['up'],
  stop: ['down'],
  init: ['tour'],
  dashboard: ['tui'],
  ls: ['services', 'list'],
  search: ['services', 'list', '--search'],
  sell: ['provide'],
  deposit: ['balance', 'deposit'],
  login: ['account', 'register'],
  whoami: ['account', 'show'],
  docs: ['--help'],
} as const satisfies Readonly<Record<string, readonly string[]>>

const TERM_COLUMNS = 9

/** The root help. @param topics - names for `souk help TOPIC` */
export function rootHelp(width: number, topics: readonly string[]): string {
  const term = (name: string) => name.padEnd(TERM_COLUMNS)
  const nouns = Object.entries(purposes).map(([name, words]) => hanging(term(name), words.join('\u00A0 '), width))
  const table = (rows: Readonly<Record<string, string>>) => {
    const columns = Math.max(...Object.keys(rows).map((line) => line.length))
    return Object.entries(rows).map(([line, what]) => hanging(`  ${line.padEnd(columns)}`, what, width))
  }
  return [
    ...wrap('souk: a marketplace for agent services on this machine. No telemetry.', width),
    '',
    ...nouns,
    '',
    'EXAMPLES',
    ...table(examples),
    '',
    'MORE',
    ...table({ ...more, 'souk help TOPIC': topics.join(', ') }),
  ].join('\n')
}
