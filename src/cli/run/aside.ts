import type { OutputStream, System } from '../env.ts'

/** The same machine, but what is printed on stdout is kept; on a terminal what is noted beside it too, if so wanted. */
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
