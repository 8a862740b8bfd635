import { inBackground } from '../../kernel/background.ts'
import type { World } from '../../kernel/world.ts'
import { commit } from '../../store/draw.ts'
import { tellNext } from './notify.ts'

/** A bounded number in each transaction; what a crash leaves is taken up where it stopped. */
export async function tellAll(world: World, id: string, now: number): Promise<void> {
  while (await commit(world, (t, draw) => tellNext(t, draw, { id, now })));
}

/** Begins to tell of a new posting; the cron finishes what this leaves. */
export function startTelling(world: World, id: string): void {
  inBackground(world, 'postings', () => tellAll(world, id, world.clock.now()))
}
