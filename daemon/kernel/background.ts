import type { Context } from './context.ts'
import { defineResource } from './resource.ts'

/** Work that answers do not wait for, such as sending payouts; a stop does. */
export const background = defineResource<Set<Promise<void>>>('background')

/** Starts work that no answer waits for. Its failure is logged; what it left is taken up by the next run. */
export function inBackground(ctx: Context, name: string, work: () => Promise<unknown>): void {
  const running = work().then(
    () => undefined,
    (error: unknown) => {
      ctx.log.error({ source: name, err: String(error) }, 'background work failed')
    },
  )
  const under = background.of(ctx)
  under.add(running)
  void running.then(() => under.delete(running))
}
