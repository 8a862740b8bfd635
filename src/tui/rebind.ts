import type { KeyFault, KeyWish } from '../model/cockpit-files.ts'
import { screenIds } from '../nouns/screens.ts'
import { didYouMean, nearest, safe } from '../text/text.ts'
import { keyLabel, neverArrives, pressable } from './parts/keys.ts'
import { type Action, type Binding, bindings, meet } from './shell/bindings.ts'

const TITLE_CHARS_MAX = 60
const members = ['key', 'on', 'title', 'command']

/** Adds the user's own commands to the key table. Wrong ones are reported and left out. */
function withRunbooks(keys: readonly Binding[], wishes: readonly KeyWish[]) {
  const table = [...keys]
  const faults: KeyFault[] = []
  for (const { act, keys: written, line } of wishes) {
    const found = readRunbook(act, isEntry(written) ? written : {})
    const other = typeof found === 'string' ? undefined : table.find((one) => meet(one, found))
    if (typeof found === 'string') faults.push({ line, words: found })
    else if (other === undefined) table.push(found)
    else {
      const key = keyLabel(found.keys[0])
      const name = other.runbook?.name ?? other.action
      faults.push({ line, words: `${key} of ${act} is ${name} ("${other.label}") already` })
    }
  }
  return { keys: table, faults }
}

type Entry = Readonly<Record<string, unknown>>

/** Whether an entry of the key file is a command of the user's own. */
function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @returns what is wrong, in words, or the binding */
function readRunbook(name: string, entry: Entry): Binding | string {
  const { key, on = screenIds, title = name, command } = entry
  const other = Object.keys(entry).find((one) => !members.includes(one))
  if (other !== undefined) return `${name} has an unknown member "${other}"${didYouMean(other, members)}`
  if (typeof key !== 'string' || !pressable(key))
    return `"key" of ${name} must be a key: a character, a name such as pageup, or ctrl-x`
  if (!isTexts(on)) return `"on" of ${name} must be a list of screens, such as ["jobs"]`
  const unknown = on.find((one) => !screenIds.some((id) => id === one))
  if (unknown !== undefined) return `${name}: there is no screen "${unknown}"${didYouMean(unknown, screenIds)}`
  if (typeof title !== 'string' || title === '' || title.length > TITLE_CHARS_MAX)
    return `"title" of ${name} must be a text of 1 to ${TITLE_CHARS_MAX} characters`
  if (!isTexts(command) || command[0] === '')
    return `"command" of ${name} must be a list of words, such as ["ticket", "{id}"]`
  if (/\{[a-z_]/i.test(command[0] ?? '')) return `"command" of ${name} must begin with a program, not with a value`
  const hint = safe(title)
  const screens = screenIds.filter((id) => on.includes(id))
  const runbook = { name: safe(name), title: hint, command }
  return { action: 'run', keys: [key], group: 'OWN', label: hint, hint, on: screens, changes: true, runbook }
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && !one.includes('\0'))
  )
}

type Rebound = { readonly keys: readonly Binding[]; readonly faults: readonly KeyFault[] }

/** These keys cannot be changed: digits, and the keys that the terminal itself uses. */
export const fixedActs: readonly Action[] = ['goto', 'quitNow', 'suspend']
const KEYS_OF_ACT_MAX = 5
/** Limit of entries. */
const WISHES_MAX = 200

type Good = { readonly action: Action; readonly keys: Binding['keys']; readonly line: number }

/**
 * Merges the user's keys and commands into the key table. Invalid entries are reported, and their actions keep the default keys.
 * Whether an action asks for confirmation does not depend on its key.
 */
export function rebind(wishes: readonly KeyWish[]): Rebound {
  const kept = wishes.slice(0, WISHES_MAX)
  const isOwn = ({ act, keys }: KeyWish) => isEntry(keys) && !bindings.some(({ action }) => action === act)
  const read = kept.filter((wish) => !isOwn(wish)).map(readWish)
  const faults = read.filter((one) => 'words' in one)
  let good = read.filter((one) => 'keys' in one)
  for (;;) {
    const keys = tableOf(good)
    const clash = firstClash(keys, good)
    if (clash === undefined) {
      const own = withRunbooks(keys, kept.filter(isOwn))
      return { keys: own.keys, faults: [...faults, ...own.faults].toSorted((a, b) => a.line - b.line) }
    }
    faults.push(clash.fault)
    good = good.filter((one) => one !== clash.of)
  }
}

function readWish({ act, keys, line }: KeyWish): Good | KeyFault {
  const known = bindings.find(({ action }) => action === act)
  const names = bindings.map(({ action }) => action).filter((action) => !fixedActs.includes(action))
  if (known === undefined) {
    const near = nearest(act, names)
    return { line, words: `there is no action "${act}"${near === undefined ? '' : `; is it ${near}?`}` }
  }
  if (fixedActs.includes(known.action)) return { line, words: `${act} keeps its key` }
  const list = typeof keys === 'string' ? [keys] : keys
  if (!isKeys(list)) {
    return { line, words: `${act} takes a key, or a list of 1 to ${KEYS_OF_ACT_MAX} of them, such as "x" or "ctrl-x"` }
  }
  const [first, ...rest] = [...new Set(list)]
  const wrong = list.find((key) => !pressable(key))
  if (first !== undefined && wrong === undefined) return { action: known.action, keys: [first, ...rest], line }
  const why = neverArrives[wrong ?? '']
  const said =
    why === undefined ? 'is not a key; use a character, a name such as pageup, or ctrl-x' : `arrives as ${why}`
  return { line, words: `"${wrong}" for ${act} ${said}` }
}

function isKeys(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > KEYS_OF_ACT_MAX) return false
  return value.every((key) => typeof key === 'string')
}

function tableOf(good: readonly Good[]): readonly Binding[] {
  return bindings.map((binding) => {
    const wish = good.findLast(({ action }) => action === binding.action)
    return wish === undefined ? binding : { ...binding, keys: wish.keys }
  })
}

type Clash = { readonly of: Good; readonly fault: KeyFault }

/** Finds the user's last entry whose key also belongs to another action on a screen. That entry is refused. */
function firstClash(table: readonly Binding[], good: readonly Good[]): Clash | undefined {
  for (const of of good.toReversed()) {
    const mine = table.find(({ action }) => action === of.action)
    const other = table.find((one) => mine !== undefined && one.action !== mine.action && meet(one, mine))
    if (mine === undefined || other === undefined) continue
    const key = mine.keys.find((one) => other.keys.includes(one)) ?? ''
    const kept = bindings
      .find(({ action }) => action === of.action)
      ?.keys.map(keyLabel)
      .join(' ')
    const words = `${keyLabel(key)} of ${of.action} is ${other.action} ("${other.label}") already; ${of.action} keeps ${kept}`
    return { of, fault: { line: of.line, words } }
  }
  return undefined
}
