type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** A record without undefined members. */
export type Compact<T> = { [K in Exclude<keyof T, OptionalKeys<T>>]: T[K] } & {
  [K in OptionalKeys<T>]?: Exclude<T[K], undefined>
}

export function compact<T extends object>(members: T): Compact<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Compact<T>
}

/** Keys of a complete table, in order. */
export function keysOf<K extends string>(table: { readonly [name in K]: unknown }): K[] {
  return Object.keys(table) as K[]
}

export function isKeyOf<T extends object>(table: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(table, name)
}

export function pick<T extends object, N extends object>(record: T, names: N): Pick<T, keyof T & keyof N> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(names, name))) as Pick<
    T,
    keyof T & keyof N
  >
}

/** Own member by an untrusted key; ignores inherited members such as `constructor`. */
export function ownOf<T>(table: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

export function tableOf<K extends string, T>(names: readonly K[], make: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>
}

/** The element at an index. @throws RangeError if there is none */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index]
  if (element === undefined) throw new RangeError(`nothing at ${index} of ${list.length}`)
  return element
}

/** The text before the first `mark`, or the whole text without one. */
export function before(text: string, mark: string): string {
  const end = text.indexOf(mark)
  return end < 0 ? text : text.slice(0, end)
}

type Kept<K, V> = { get(key: K): V | undefined; set(key: K, value: V): unknown }
/** The value of a key, made at its first use. */
export function keptIn<K, V>(map: Kept<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

export function dropOldest(map: Map<unknown, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
