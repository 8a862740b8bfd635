import { setTimeout as sleep } from 'node:timers/promises'
import type { Env } from '../client/paths.ts'
import type { Entry, Group } from './command.ts'
import type { OutputStream, System } from './env.ts'
import { main } from './main.ts'

/** What one run of the command line came to. */
export type Ran = { readonly code: number; readonly out: string; readonly err: string }

export type RunOptions = {
  readonly env?: Env
  readonly stdin?: string
  /** Columns of the terminal that stdout and stderr are; a pipe when missing. */
  readonly columns?: number
  readonly self?: readonly [string, ...string[]]
  readonly now?: () => number
  /** Its abort is ctrl-c. */
  readonly interrupt?: AbortSignal
  /** Sees what is printed as it is printed. */
  readonly onOut?: (text: string) => void
}

/** Runs words against a list of commands, in this process, with streams of its own. */
export async function runLine(
  commands: { entries: readonly Entry[]; groups: readonly Group[] },
  words: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const out = collector(options.columns, options.onOut)
  const err = collector(options.columns)
  const system: System = {
    argv: words,
    env: options.env ?? {},
    stdin: (async function* () {
      yield options.stdin ?? ''
    })(),
    stdinIsTty: false,
    stdout: out.stream,
    stderr: err.stream,
    version: '0.0.0-test',
    node: '24.0.0',
    platform: 'test',
    tmpDir: options.env?.TMPDIR ?? '/nowhere',
    self: options.self ?? ['/nowhere/souk'],
    now: options.now ?? (() => 0),
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined), // aborted: over
    exit: (code) => {
      throw new Error(`the process would end with ${code}`)
    },
    parent: undefined,
    onSignal: (signal, handler) => {
      if (signal === 'SIGINT') options.interrupt?.addEventListener('abort', handler)
      return () => options.interrupt?.removeEventListener('abort', handler)
    },
  }
  const code = await main(system, commands)
  return { code, out: out.text(), err: err.text() }
}

/** Splits an example as a shell would, quotes included. */
export function shellWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  )
}

function collector(
  columns: number | undefined,
  onText?: (text: string) => void,
): { stream: OutputStream; text(): string } {
  const parts: string[] = []
  return {
    text: () => parts.join(''),
    stream: {
      ...(columns === undefined ? {} : { isTTY: true, columns }),
      write(chunk, done) {
        const text = typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)
        parts.push(text)
        onText?.(text)
        done?.()
        return true
      },
    },
  }
}
