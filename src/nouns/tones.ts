import { keysOf, tableOf } from '../core/record.ts'

/** Meaning of a text, shown by a color. The text alone must also say it. */
type Mood = 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'accent'
type Sign = { readonly text: string; readonly tone: Mood }
export type Toned = string | Sign
const toned =
  (tone: Mood) =>
  (text: string): Sign => ({ text, tone })
export const dim = toned('dim')
export const good = toned('good')
export const warn = toned('warn')
export const bad = toned('bad')
export const accent = toned('accent')

/** The displayed text of each state: its sign, then its word. */
export function statesOf<K extends string>(
  words: Readonly<Record<K, string>>,
  signs: Readonly<Record<K, Sign>>,
): Readonly<Record<K, Sign>> {
  return tableOf(keysOf(signs), (name) => ({ ...signs[name], text: `${signs[name].text} ${words[name]}` }))
}
