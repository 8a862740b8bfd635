import type { Context } from './context.ts'

/** Starts work that no answer waits for. Its failure is logged; what it left is taken up by the next run. */
export function inBackground(ctx: Context, name: string, work: () => Promise<unknown>): void {
  const running = work().then(
    () => undefined,
    (error: unknown) => {
      ctx.log.error({ source: name, err: String(error) }, 'background work failed')
    },
  )
  ctx.background.add(running)
  void running.then(() => ctx.background.delete(running))
}
