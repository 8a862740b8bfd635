/** What a person wrote of one act of the cockpit, and on which line. */
export type KeyWish = {
  readonly act: string
  /** As it stands there: a key or a list of them, where it is right. */
  readonly keys: unknown
  readonly line: number
}

/** Something that is left out, and why. */
export type KeyFault = { readonly line: number; readonly words: string }

/** Something that waits for the operator and is not to be seen for a while, on this machine alone. */
export type PutOff = {
  /** Whose inbox it is in: an id such as `cron reputation` is one of each instance. */
  readonly instance: string
  readonly id: string
  /** Wall time; without one it comes back as soon as it says something else. */
  readonly until?: number
  /** What it said when it was put off. */
  readonly said: string
}

/** More than an inbox tells; the oldest are let go. */
export const PUT_OFF_MAX = 500
