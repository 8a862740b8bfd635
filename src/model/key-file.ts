/** What a person wrote of one act of the cockpit, and on which line. */
export type KeyWish = {
  readonly act: string
  /** As it stands there: a key or a list of them, where it is right. */
  readonly keys: unknown
  readonly line: number
}

/** Something that is left out, and why. */
export type KeyFault = { readonly line: number; readonly words: string }
