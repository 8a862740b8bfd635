/**
 * A fact that a lower feature announces and one higher feature handles. `daemon/app.ts` connects the two, so that no
 * lower feature imports a higher one.
 */
export type Hook<Args extends readonly unknown[]> = {
  readonly name: string
  /** Calls the feature that follows, and resolves when it is done. @throws Error if no feature follows */
  readonly call: (...fact: Args) => Promise<void>
  readonly follow: (follower: (...fact: Args) => Promise<void>) => void
}

export function defineHook<Args extends readonly unknown[]>(name: string): Hook<Args> {
  let following: ((...fact: Args) => Promise<void>) | undefined
  return {
    name,
    call: async (...fact) => {
      if (following === undefined) throw new Error(`nothing follows ${name}: list its follower in daemon/app.ts`)
      await following(...fact)
    },
    follow: (follower) => {
      if (following !== undefined && following !== follower) throw new Error(`${name} is followed twice`)
      following = follower
    },
  }
}
