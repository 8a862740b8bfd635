/* What TypeScript cannot say of plain records and lists, said once. */

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** A record without its members that are undefined. */
export type Compact<T> = { [K in Exclude<keyof T, OptionalKeys<T>>]: T[K] } & {
  [K in OptionalKeys<T>]?: Exclude<T[K], undefined>
}

/** The members that are there: what was not given is left out, rather than sent or stored as nothing. */
export function compact<T extends object>(members: T): Compact<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Compact<T>
}

/** Names of a table's members, in order; for a table written out in full, which holds no more than its type says. */
export function keysOf<K extends string>(table: { readonly [name in K]: unknown }): K[] {
  return Object.keys(table) as K[]
}

export function isKeyOf<T extends object>(table: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(table, name)
}

/** What a table itself has under a word that a stranger chose: `constructor` is a member of every object, and of none here. */
export function ownOf<T>(table: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** A table with a member for each name. */
export function tableOf<K extends string, T>(names: readonly K[], make: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>
}

/** An element that the reckoning before it says is there. @throws RangeError when it is not. */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index]
  if (element === undefined) throw new RangeError(`nothing at ${index} of ${list.length}`)
  return element
}

/** The text before the first mark: all of it where there is none. */
export function before(text: string, mark: string): string {
  const end = text.indexOf(mark)
  return end < 0 ? text : text.slice(0, end)
}

/** Removes the oldest entry. */
export function dropOldest(map: Map<unknown, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
