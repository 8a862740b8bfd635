/** A custom key binding, with its line in the file. */
export type KeyWish = {
  readonly act: string
  /** As written in the file: one key, or a list of keys. */
  readonly keys: unknown
  readonly line: number
}

/** An ignored entry of the key file, with the reason. */
export type KeyFault = { readonly line: number; readonly words: string }

/** A problem that the user snoozed on this machine. */
export type PutOff = {
  /** Instance of the problem. Needed because ids such as `cron reputation` occur at every instance. */
  readonly instance: string
  readonly id: string
  /** End of the snooze, wall time; if absent, the snooze ends when the text changes. */
  readonly until?: number
  /** Text of the problem when the user snoozed it. */
  readonly said: string
}

/** State of the lists when the cockpit was closed: filter, order and hidden columns by screen, and the views. */
export type KeptViews = {
  readonly filters: Readonly<Record<string, string>>
  readonly sorts: Readonly<Record<string, string>>
  readonly putAway: Readonly<Record<string, readonly string[]>>
  readonly views: Readonly<Record<string, string>>
}

/** Largest number of marketplaces whose lists are kept. */
export const KEPT_VIEWS_MAX = 100

/** Largest number of snoozed problems; the oldest are dropped. */
export const PUT_OFF_MAX = 500
