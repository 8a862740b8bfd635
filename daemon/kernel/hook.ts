/**
 * What a lower feature announces and a higher one follows, in the same transaction: the lower one names the fact, and
 * `daemon/app.ts` lists who follows it, so that no import leads upwards.
 */
export type Hook<Args extends readonly unknown[]> = {
  readonly name: string
  /** @throws Error when nothing follows: a fact that nobody hears of would leave half of its consequences undone. */
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
