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
