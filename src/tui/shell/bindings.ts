import { type ScreenId, screenIds } from '../../model/words.ts'
import { type Key, keyLabel } from '../parts/keys.ts'

export const groups = ['MOVE', 'GO', 'FIND', 'LIVE', 'ACT', 'OWN', 'SAFE'] as const

/** A command of the user's own. Its words may contain values of the row, such as `{id}`. */
export type Runbook = { readonly name: string; readonly title: string; readonly command: readonly string[] }

type BindingOf<A extends string> = {
  readonly action: A
  readonly keys: readonly [Key, ...Key[]]
  readonly group: (typeof groups)[number]
  /** Help text. */
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

/** Paged lists. */
const paged: readonly ScreenId[] = ['services', 'jobs', 'threads', 'money', 'compliance', 'requests', 'people']

/**
 * All keys. Router, key row and help read this table. Capital letters change data and always ask first. A test refuses
 * two actions on one key of a screen.
 */
const table = [
  { action: 'up', keys: ['up', 'k'], group: 'MOVE', label: 'up' },
  { action: 'down', keys: ['down', 'j'], group: 'MOVE', label: 'down' },
  { action: 'pageUp', keys: ['pageup'], group: 'MOVE', label: 'page up' },
  { action: 'pageDown', keys: ['pagedown'], group: 'MOVE', label: 'page down' },
  { action: 'first', keys: ['g', 'home'], group: 'MOVE', label: 'first row' },
  { action: 'last', keys: ['G', 'end'], group: 'MOVE', label: 'last row' },
  {
    action: 'open',
    keys: ['enter', '+'],
    group: 'GO',
    label: 'open the row',
    hint: 'open',
    on: ['overview', 'services', 'jobs', 'threads', 'endpoints', 'logs', 'people'],
  },
  {
    action: 'raw',
    keys: ['e'],
    group: 'GO',
    label: 'JSON, or edit',
    hint: 'json',
    on: ['services', 'jobs', 'money', 'requests', 'people', 'logs'],
  },
  { action: 'nextTab', keys: ['right'], group: 'GO', label: 'next tab', hint: 'tab', on: tabbed },
  { action: 'previousTab', keys: ['left'], group: 'GO', label: 'previous tab', on: tabbed },
  {
    action: 'itsJob',
    keys: ['b'],
    group: 'GO',
    label: 'open its job',
    hint: 'its job',
    on: ['threads', 'money', 'logs'],
  },
  {
    action: 'person',
    keys: ['p'],
    group: 'GO',
    label: 'who it is',
    hint: 'who',
    on: ['overview', 'services', 'jobs', 'threads', 'money', 'compliance', 'logs', 'requests', 'people'],
    hintOn: ['people'],
  },
  { action: 'nextPage', keys: ['>'], group: 'MOVE', label: 'next page', hint: 'page', on: paged, hintOn: ['services'] },
  { action: 'previousPage', keys: ['<'], group: 'MOVE', label: 'previous page', on: paged },
  { action: 'goto', keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'], group: 'GO', label: 'to a screen' },
  { action: 'nextPanel', keys: ['tab'], group: 'GO', label: 'next panel', hint: 'panel', on: ['overview'] },
  { action: 'previousPanel', keys: ['shift-tab'], group: 'GO', label: 'previous panel', on: ['overview'] },
  { action: 'nextScreen', keys: ['tab'], group: 'GO', label: 'next screen', on: lists },
  { action: 'previousScreen', keys: ['shift-tab'], group: 'GO', label: 'previous screen', on: lists },
  { action: 'back', keys: ['['], group: 'GO', label: 'back' },
  { action: 'forward', keys: [']'], group: 'GO', label: 'forward' },
  { action: 'lastScreen', keys: ['-'], group: 'GO', label: 'last screen' },
  { action: 'elsewhere', keys: ['@'], group: 'GO', label: 'other marketplace' },
  { action: 'leave', keys: ['esc'], group: 'GO', label: 'one step back' },
  {
    action: 'testHook',
    keys: ['T'],
    group: 'ACT',
    label: 'test, send again',
    hint: 'test hook',
    on: ['overview', 'services', 'logs'],
    hintOn: ['services'],
    changes: true,
  },
  {
    action: 'decide',
    keys: ['D'],
    group: 'ACT',
    label: 'decide a dispute',
    hint: 'decide',
    on: ['overview', 'jobs', 'compliance'],
    hintOn: ['jobs', 'compliance'],
    changes: true,
  },
  {
    action: 'runCron',
    keys: ['R'],
    group: 'ACT',
    label: 'run it now',
    hint: 'run now',
    hintAt: { compliance: 'fetch list' },
    on: ['overview', 'crons', 'compliance'],
    hintOn: ['crons', 'compliance'],
    changes: true,
  },
  {
    action: 'giveBack',
    keys: ['W'],
    group: 'ACT',
    label: 'refund',
    hint: 'refund',
    on: ['overview', 'jobs', 'money'],
    hintOn: ['jobs', 'money'],
    changes: true,
  },
  { action: 'putOff', keys: ['x'], group: 'ACT', label: 'snooze it', hint: 'snooze', on: ['overview'] },
  {
    action: 'pauseCron',
    keys: ['Z'],
    group: 'ACT',
    label: 'pause or resume it',
    hint: 'pause/resume',
    on: ['crons', 'people', 'clock'],
    changes: true,
  },
  { action: 'edit', keys: ['E'], group: 'ACT', label: 'change it', hint: 'set tier', on: ['people'], changes: true },
  { action: 'buy', keys: ['B'], group: 'ACT', label: 'buy it', hint: 'buy', on: ['services'], changes: true },
  { action: 'tryOne', keys: ['o'], group: 'FIND', label: 'try it', hint: 'try it', on: ['endpoints'] },
  { action: 'screenOne', keys: ['o'], group: 'FIND', label: 'check a wallet', hint: 'screen one', on: ['compliance'] },
  {
    action: 'write',
    keys: ['i'],
    group: 'ACT',
    label: 'write a message',
    hint: 'write',
    on: ['threads'],
    changes: true,
  },
  { action: 'offer', keys: ['O'], group: 'ACT', label: 'offer a price', hint: 'offer', on: ['threads'], changes: true },
  {
    action: 'attach',
    keys: ['u'],
    group: 'ACT',
    label: 'attach a file',
    hint: 'attach',
    on: ['threads'],
    changes: true,
  },
  {
    action: 'add',
    keys: ['A'],
    group: 'ACT',
    label: 'accept, add',
    hint: 'accept/add',
    hintAt: { threads: 'accept', compliance: 'add wallet', clock: 'move' },
    on: ['overview', 'threads', 'compliance', 'requests', 'clock'],
    hintOn: ['threads', 'compliance', 'clock'],
    changes: true,
  },
  {
    action: 'remove',
    keys: ['X'],
    group: 'ACT',
    label: 'decline, remove',
    hint: 'decline/remove',
    hintAt: { threads: 'decline', compliance: 'remove wallet' },
    on: ['threads', 'compliance', 'requests'],
    hintOn: ['threads', 'compliance'],
    changes: true,
  },
  {
    action: 'pause',
    keys: ['P'],
    group: 'ACT',
    label: 'pause payments',
    hint: 'pause payments',
    hintPaused: 'unpause payments',
    hintOn: ['overview', 'endpoints'],
    changes: true,
  },
  { action: 'start', keys: ['U'], group: 'ACT', label: 'start the daemon', changes: true },
  { action: 'find', keys: ['/'], group: 'FIND', label: 'find, field:value', hint: 'filter', on: lists },
  { action: 'sort', keys: ['s'], group: 'FIND', label: 'next sort field', hint: 'sort', on: lists },
  { action: 'nextHit', keys: ['n'], group: 'FIND', label: 'next match', on: lists },
  { action: 'previousHit', keys: ['N'], group: 'FIND', label: 'previous match', on: lists },
  { action: 'turn', keys: ['r'], group: 'FIND', label: 'reverse the order', on: lists },
  { action: 'columns', keys: ['w'], group: 'FIND', label: 'choose columns', on: lists },
  {
    action: 'view',
    keys: ['v'],
    group: 'FIND',
    label: 'choose a view',
    hint: 'view',
    on: ['services', 'jobs', 'threads', 'money', 'logs', 'requests', 'endpoints', 'compliance'],
  },
  { action: 'span', keys: ['t'], group: 'FIND', label: 'hour, day or week', hint: 'span', on: ['overview'] },
  { action: 'audit', keys: ['a'], group: 'FIND', label: 'check the books', hint: 'audit', on: ['money'] },
  { action: 'level', keys: ['l'], group: 'FIND', label: 'lowest level', hint: 'level', on: ['logs'] },
  { action: 'follow', keys: ['f'], group: 'LIVE', label: 'newest first', hint: 'follow', on: ['logs'] },
  { action: 'mark', keys: ['space'], group: 'ACT', label: 'mark it', on: lists },
  { action: 'markAll', keys: ['*'], group: 'ACT', label: 'mark all or none', on: lists },
  { action: 'copyId', keys: ['y'], group: 'GO', label: 'copy its id' },
  { action: 'copyCommand', keys: ['c'], group: 'GO', label: 'copy the command' },
  { action: 'save', keys: ['ctrl-s'], group: 'GO', label: 'save this screen' },
  { action: 'refresh', keys: ['ctrl-r'], group: 'LIVE', label: 'fetch now', hint: 'refresh' },
  { action: 'repaint', keys: ['ctrl-l'], group: 'LIVE', label: 'redraw' },
  { action: 'palette', keys: [':', 'ctrl-p'], group: 'FIND', label: 'screen or command', hint: 'go or do' },
  { action: 'freeze', keys: ['z'], group: 'LIVE', label: 'freeze', hint: 'hold' },
  { action: 'help', keys: ['?'], group: 'SAFE', label: 'this help', hint: 'help', right: true },
  { action: 'quit', keys: ['q'], group: 'SAFE', label: 'quit', hint: 'quit', right: true },
  { action: 'quitNow', keys: ['ctrl-c'], group: 'SAFE', label: 'quit immediately' },
  { action: 'suspend', keys: ['ctrl-z'], group: 'SAFE', label: 'shell; fg returns' },
] as const satisfies readonly BindingOf<string>[]

export type Action = (typeof table)[number]['action'] | 'run'
export type Binding = BindingOf<Action>

export const bindings: readonly Binding[] = table

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
