import type { KeyFault, KeyWish } from '../model/cockpit-files.ts'
import { screenIds } from '../model/words.ts'
import { didYouMean, safe } from '../text/text.ts'
import { keyLabel, pressable } from './parts/keys.ts'
import { type Binding, meet } from './shell/bindings.ts'

const TITLE_CHARS_MAX = 60
const members = ['key', 'on', 'title', 'command']

/** Adds the user's own commands to the key table. Wrong ones are reported and left out. */
export function withRunbooks(keys: readonly Binding[], wishes: readonly KeyWish[]) {
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
export function isEntry(value: unknown): value is Entry {
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
