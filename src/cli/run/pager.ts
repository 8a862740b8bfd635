import type { OutputStream, System } from '../env.ts'
import { createIo, type Io } from '../io.ts'
import { splitWords } from '../split-words.ts'

/** A system that collects stdout in `said`. If `notes` is set and stdout is a terminal, it collects stderr, too. */
export function aside(system: System, said: string[], { notes }: { notes: boolean }): System {
  const { isTTY, columns, rows } = system.stdout
  const stream: OutputStream = {
    ...(isTTY === undefined ? {} : { isTTY }),
    ...(columns === undefined ? {} : { columns }),
    ...(rows === undefined ? {} : { rows }),
    write(chunk, done) {
      said.push(typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk))
      done?.()
      return true
    },
  }
  const isNoted = notes && isTTY === true
  return Object.create(system, { stdout: { value: stream }, ...(isNoted ? { stderr: { value: stream } } : {}) })
}

/** Pager from the environment (default: none). */
export function pagerOf({ env }: Pick<System, 'env'>): string | undefined {
  const named = env.SOUK_PAGER ?? env.PAGER ?? ''
  return named.trim() === '' || named.trim() === 'cat' ? undefined : named
}

export function isPaged(system: System, io: Io): boolean {
  return io.isTty && system.stdinIsTty && io.settings.pager && pagerOf(system) !== undefined
}

/** Prints output that is longer than the screen through the pager. */
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
