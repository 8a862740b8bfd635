import { inBackground } from '../../kernel/background.ts'
import type { Context } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { tellNext } from './notify.ts'

/** A bounded number in each transaction; what a crash leaves is taken up where it stopped. */
export async function tellAll(ctx: Context, id: string, now: number): Promise<void> {
  while (await commit(ctx, (t, draw) => tellNext(t, draw, { id, now })));
}

/** Begins to tell of a new posting; the cron finishes what this leaves. */
export function startTelling(ctx: Context, id: string): void {
  inBackground(ctx, 'postings', () => tellAll(ctx, id, ctx.clock.now()))
}
