import { keysOf } from '../../core/record.ts'
import { nounScreens, type ScreenId, screenIds } from '../../nouns/screens.ts'
import { type Key, keyLabel } from '../parts/keys.ts'

export const groups = ['MOVE', 'GO', 'FIND', 'LIVE', 'ACT', 'OWN', 'SAFE'] as const

/** A command of the user's own. Its words may contain values of the row, such as `{id}`. */
export type Runbook = { readonly name: string; readonly title: string; readonly command: readonly string[] }

type OwnBinding = {
  readonly keys: readonly [Key, ...Key[]]
  readonly group: (typeof groups)[number]
  readonly label: string
  /** Key row text. */
  readonly hint?: string
  /** Text in the key row of specific screens, in place of `hint`. */
  readonly hintAt?: Readonly<Partial<Record<ScreenId, string>>>
  /** Text while paused. */
  readonly hintPaused?: string
  /** Shown at the right end of the key row, however narrow the row is. */
  readonly right?: true
  /** Screens (default: all). */
  readonly on?: readonly ScreenId[]
  /** Screens that show this key in their key row (default: all that have the key). */
  readonly hintOn?: readonly ScreenId[]
  /** The key changes data, so read-only cockpits do not have it. */
  readonly changes?: true
  /** Names of the keys as shown (default: `keyLabel`). */
  readonly labels?: readonly string[]
  /** What the action `run` runs. */
  readonly runbook?: Runbook
}

/** Screens with a list to filter, sort and mark. */
const lists: readonly ScreenId[] = screenIds.filter((id) => id !== 'overview')

/** Screens whose drawer has tabs. */
const tabbed: readonly ScreenId[] = ['services', 'jobs', 'logs']

const ofNouns: readonly ScreenId[] = nounScreens.map(({ id }) => id)

const paged = ['services', 'jobs', 'threads', 'money', 'compliance', 'requests', 'people', ...ofNouns]

/**
 * All keys. Router, key row and help read this table. Capital letters change data and always ask first. A test refuses
 * two actions on one key of a screen.
 */
const table = {
  up: { keys: ['up', 'k'], group: 'MOVE', label: 'up' },
  down: { keys: ['down', 'j'], group: 'MOVE', label: 'down' },
  pageUp: { keys: ['pageup'], group: 'MOVE', label: 'page up' },
  pageDown: { keys: ['pagedown'], group: 'MOVE', label: 'page down' },
  first: { keys: ['g', 'home'], group: 'MOVE', label: 'first row' },
  last: { keys: ['G', 'end'], group: 'MOVE', label: 'last row' },
  open: {
    keys: ['enter', '+'],
    group: 'GO',
    label: 'open the row',
    hint: 'open',
    on: ['overview', 'services', 'jobs', 'threads', 'endpoints', 'logs', 'people'],
  },
  raw: {
    keys: ['e'],
    group: 'GO',
    label: 'JSON, or edit',
    hint: 'json',
    on: ['services', 'jobs', 'money', 'requests', 'people', 'logs', ...ofNouns],
  },
  nextTab: { keys: ['right'], group: 'GO', label: 'next tab', hint: 'tab', on: tabbed },
  previousTab: { keys: ['left'], group: 'GO', label: 'previous tab', on: tabbed },
  itsJob: { keys: ['b'], group: 'GO', label: 'open its job', hint: 'its job', on: ['threads', 'money', 'logs'] },
  person: {
    keys: ['p'],
    group: 'GO',
    label: 'who it is',
    hint: 'who',
    on: ['overview', 'services', 'jobs', 'threads', 'money', 'compliance', 'logs', 'requests', 'people'],
    hintOn: ['people'],
  },
  nextPage: { keys: ['>'], group: 'MOVE', label: 'next page', hint: 'page', on: paged, hintOn: ['services'] },
  previousPage: { keys: ['<'], group: 'MOVE', label: 'previous page', on: paged },
  goto: { keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'], group: 'GO', label: 'to a screen' },
  nextPanel: { keys: ['tab'], group: 'GO', label: 'next panel', hint: 'panel', on: ['overview'] },
  previousPanel: { keys: ['shift-tab'], group: 'GO', label: 'previous panel', on: ['overview'] },
  nextScreen: { keys: ['tab'], group: 'GO', label: 'next screen', on: lists },
  previousScreen: { keys: ['shift-tab'], group: 'GO', label: 'previous screen', on: lists },
  back: { keys: ['['], group: 'GO', label: 'back' },
  forward: { keys: [']'], group: 'GO', label: 'forward' },
  lastScreen: { keys: ['-'], group: 'GO', label: 'last screen' },
  elsewhere: { keys: ['@'], group: 'GO', label: 'other marketplace' },
  leave: { keys: ['esc'], group: 'GO', label: 'one step back' },
  testHook: {
    keys: ['T'],
    group: 'ACT',
    label: 'test, send again',
    hint: 'test hook',
    on: ['overview', 'services', 'logs'],
    hintOn: ['services'],
    changes: true,
  },
  decide: {
    keys: ['D'],
    group: 'ACT',
    label: 'decide a dispute',
    hint: 'decide',
    on: ['overview', 'jobs', 'compliance'],
    hintOn: ['jobs', 'compliance'],
    changes: true,
  },
  runCron: {
    keys: ['R'],
    group: 'ACT',
    label: 'run it now',
    hint: 'run now',
    hintAt: { compliance: 'fetch list' },
    on: ['overview', 'crons', 'compliance'],
    hintOn: ['crons', 'compliance'],
    changes: true,
  },
  giveBack: {
    keys: ['W'],
    group: 'ACT',
    label: 'refund',
    hint: 'refund',
    on: ['overview', 'jobs', 'money'],
    hintOn: ['jobs', 'money'],
    changes: true,
  },
  putOff: { keys: ['x'], group: 'ACT', label: 'snooze it', hint: 'snooze', on: ['overview'] },
  pauseCron: {
    keys: ['Z'],
    group: 'ACT',
    label: 'pause or resume it',
    hint: 'pause/resume',
    on: ['crons', 'people', 'clock'],
    changes: true,
  },
  edit: { keys: ['E'], group: 'ACT', label: 'change it', hint: 'set tier', on: ['people'], changes: true },
  buy: { keys: ['B'], group: 'ACT', label: 'buy it', hint: 'buy', on: ['services'], changes: true },
  tryOne: { keys: ['o'], group: 'FIND', label: 'try it', hint: 'try it', on: ['endpoints'] },
  screenOne: { keys: ['o'], group: 'FIND', label: 'check a wallet', hint: 'screen one', on: ['compliance'] },
  write: { keys: ['i'], group: 'ACT', label: 'write a message', hint: 'write', on: ['threads'], changes: true },
  offer: { keys: ['O'], group: 'ACT', label: 'offer a price', hint: 'offer', on: ['threads'], changes: true },
  attach: { keys: ['u'], group: 'ACT', label: 'attach a file', hint: 'attach', on: ['threads'], changes: true },
  add: {
    keys: ['A'],
    group: 'ACT',
    label: 'accept, add',
    hint: 'accept/add',
    hintAt: { threads: 'accept', compliance: 'add wallet', clock: 'move' },
    on: ['overview', 'threads', 'compliance', 'requests', 'clock'],
    hintOn: ['threads', 'compliance', 'clock'],
    changes: true,
  },
  remove: {
    keys: ['X'],
    group: 'ACT',
    label: 'decline, remove',
    hint: 'decline/remove',
    hintAt: { threads: 'decline', compliance: 'remove wallet' },
    on: ['threads', 'compliance', 'requests'],
    hintOn: ['threads', 'compliance'],
    changes: true,
  },
  pause: {
    keys: ['P'],
    group: 'ACT',
    label: 'pause payments',
    hint: 'pause payments',
    hintPaused: 'unpause payments',
    hintOn: ['overview', 'endpoints'],
    changes: true,
  },
  start: { keys: ['U'], group: 'ACT', label: 'start the daemon', changes: true },
  find: { keys: ['/'], group: 'FIND', label: 'find, field:value', hint: 'filter', on: lists },
  sort: { keys: ['s'], group: 'FIND', label: 'next sort field', hint: 'sort', on: lists },
  nextHit: { keys: ['n'], group: 'FIND', label: 'next match', on: lists },
  previousHit: { keys: ['N'], group: 'FIND', label: 'previous match', on: lists },
  turn: { keys: ['r'], group: 'FIND', label: 'reverse the order', on: lists },
  columns: { keys: ['w'], group: 'FIND', label: 'choose columns', on: lists },
  view: {
    keys: ['v'],
    group: 'FIND',
    label: 'choose a view',
    hint: 'view',
    on: ['services', 'jobs', 'threads', 'money', 'logs', 'requests', 'endpoints', 'compliance'],
  },
  span: { keys: ['t'], group: 'FIND', label: 'hour, day or week', hint: 'span', on: ['overview'] },
  audit: { keys: ['a'], group: 'FIND', label: 'check the books', hint: 'audit', on: ['money'] },
  level: { keys: ['l'], group: 'FIND', label: 'lowest level', hint: 'level', on: ['logs'] },
  follow: { keys: ['f'], group: 'LIVE', label: 'newest first', hint: 'follow', on: ['logs'] },
  mark: { keys: ['space'], group: 'ACT', label: 'mark it', on: lists },
  markAll: { keys: ['*'], group: 'ACT', label: 'mark all or none', on: lists },
  copyId: { keys: ['y'], group: 'GO', label: 'copy its id' },
  copyCommand: { keys: ['c'], group: 'GO', label: 'copy the command' },
  save: { keys: ['ctrl-s'], group: 'GO', label: 'save this screen' },
  refresh: { keys: ['ctrl-r'], group: 'LIVE', label: 'fetch now', hint: 'refresh' },
  repaint: { keys: ['ctrl-l'], group: 'LIVE', label: 'redraw' },
  palette: { keys: [':', 'ctrl-p'], group: 'FIND', label: 'screen or command', hint: 'go or do' },
  freeze: { keys: ['z'], group: 'LIVE', label: 'freeze', hint: 'hold' },
  help: { keys: ['?'], group: 'SAFE', label: 'this help', hint: 'help', right: true },
  quit: { keys: ['q'], group: 'SAFE', label: 'quit', hint: 'quit', right: true },
  quitNow: { keys: ['ctrl-c'], group: 'SAFE', label: 'quit immediately' },
  suspend: { keys: ['ctrl-z'], group: 'SAFE', label: 'shell; fg returns' },
} as const satisfies Readonly<Record<string, OwnBinding>>

export type Action = keyof typeof table | 'run'
export type Binding = OwnBinding & { readonly action: Action }

export const bindings: readonly Binding[] = keysOf(table).map((action) => ({ action, ...table[action] }))

export type HintWords = Readonly<Partial<Record<Action, string | false | undefined>>>

/** Keys of the operator alone, by screen. The key row of other people leaves them out. */
const ofOperator: Readonly<Partial<Record<Action, readonly ScreenId[]>>> = {
  ...{ decide: screenIds, giveBack: screenIds, runCron: screenIds, pauseCron: screenIds, edit: screenIds },
  ...{ pause: screenIds, add: ['compliance', 'clock'], remove: ['compliance'] },
}

export type Where = {
  readonly screen: ScreenId
  readonly readonly: boolean
  readonly paused?: boolean
  /** Whether the user has the admin key. Undefined while unknown. */
  readonly admin?: boolean | undefined
  readonly hints?: HintWords | undefined
  /** The key table, with the user's own keys. */
  readonly keys?: readonly Binding[]
}

export function bindingsOn({ screen, readonly, keys = bindings }: Where): readonly Binding[] {
  return keys.filter(({ on, changes }) => (on === undefined || on.includes(screen)) && !(readonly && changes))
}

export function bindingOf(key: Key, where: Where): Binding | undefined {
  return bindingsOn(where).find(({ keys }) => keys.includes(key))
}

export type KeyHint = { readonly key: string; readonly word: string }

/** Whether two bindings share a key on a screen. */
export function meet(one: Binding, other: Binding): boolean {
  const isTogether =
    one.on === undefined || other.on === undefined || one.on.some((screen) => other.on?.includes(screen))
  return isTogether && one.keys.some((key: Key) => other.keys.includes(key))
}

/** What the key row shows. The most important hints come first at the left. */
export function hintsOn(where: Where): { left: KeyHint[]; right: KeyHint[] } {
  const hinted = bindingsOn(where).flatMap((binding) => {
    const { action, hintOn, right } = binding
    const usual = (where.paused ? binding.hintPaused : undefined) ?? binding.hintAt?.[where.screen] ?? binding.hint
    const hint = where.hints?.[action] ?? usual
    if (!hint || (hintOn && !hintOn.includes(where.screen))) return []
    if (where.admin === false && ofOperator[action]?.includes(where.screen)) return []
    return [{ right, hint: { key: labelsOf(binding)[0] ?? '', word: hint } }]
  })
  return {
    left: hinted.filter(({ right }) => !right).map(({ hint }) => hint),
    right: hinted.filter(({ right }) => right).map(({ hint }) => hint),
  }
}

export function keyFor(action: Action, keys: readonly Binding[]): string {
  const found = keys.find((one) => one.action === action)
  return (found && labelsOf(found)[0]) ?? ''
}

const labelsOf = ({ keys, labels = keys.map(keyLabel) }: Binding) => labels

/** The key table for ASCII terminals: the sign of an arrow key would be that of another key, such as `>`. */
export function inWords(keys: readonly Binding[]): readonly Binding[] {
  return keys.map((one) => ({
    ...one,
    labels: one.keys.map((key) => (/^[ -~]+$/.test(keyLabel(key)) ? keyLabel(key) : key)),
  }))
}

/** All keys of an action as shown in help: `k ↑`, `1-9`. */
export function keysLabel(binding: Binding): string {
  const { keys } = binding
  const run = keys.length > 2 && keys.every((key) => /^\d$/.test(key))
  return run ? `${keys[0]}-${keys.at(-1)}` : labelsOf(binding).join(' ')
}
