import type { System } from '../env.ts'
import { createIo, type Io } from '../io.ts'
import { splitWords } from '../split-words.ts'
import { aside } from './aside.ts'

/** The pager that the environment names; souk has none of its own. */
export function pagerOf({ env }: Pick<System, 'env'>): string | undefined {
  const named = env.SOUK_PAGER ?? env.PAGER ?? ''
  return named.trim() === '' || named.trim() === 'cat' ? undefined : named
}

/** Whether an answer may go through a pager: on a terminal, where one is named and nobody said no. */
export function isPaged(system: System, io: Io): boolean {
  return io.isTty && system.stdinIsTty && io.settings.pager && pagerOf(system) !== undefined
}

/** Shows what is printed through the pager where it is longer than the screen, and at once where it is not. */
export async function paged(system: System, io: Io, print: (io: Io) => Promise<void>): Promise<void> {
  const said: string[] = []
  const kept = createIo(aside(system, said, { notes: true }), io.settings)
  await print(kept)
  const text = said.join('')
  const isLong = text.split('\n').length > (system.stdout.rows ?? Number.POSITIVE_INFINITY)
  const pager = pagerOf(system)
  if (isLong && pager !== undefined && (await system.foreground(splitWords(pager), text))) return
  system.stdout.write(text)
}
