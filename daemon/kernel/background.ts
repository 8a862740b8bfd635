import type { World } from './world.ts'

/** Starts work that no answer waits for. Its failure is logged; what it left is taken up by the next run. */
export function inBackground(world: World, name: string, work: () => Promise<unknown>): void {
  const running = work().then(
    () => undefined,
    (error: unknown) => {
      world.log.error({ source: name, err: String(error) }, 'background work failed')
    },
  )
  world.background.add(running)
  void running.then(() => world.background.delete(running))
}
