import type { Outcome } from '../../client/link.ts'

/** A word that may come next on a line. */
export type LineWord = { readonly value: string; readonly summary: string }

/** The command line, as far as the cockpit uses it: its own names, its own completion, its own processes. */
export type CommandLine = {
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  /** Words as a shell would part them; undefined while a quote is open. */
  readonly split: (line: string) => readonly string[] | undefined
  /** @param words the last one is being typed, and may be empty */
  readonly complete: (words: readonly string[]) => Promise<readonly LineWord[]>
  /** Runs it in a process of its own. @returns what it said last */
  readonly run: (words: readonly string[]) => Promise<Outcome<string>>
}
