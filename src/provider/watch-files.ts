import { statSync } from 'node:fs'

const LOOK_EVERY_MS = 250

type Watching = {
  /** Asked each time: a program may become another one. */
  readonly files: () => readonly string[]
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Tells of edits, a round at a time: the files that are not what they were. It looks instead of being told, since
 * editors replace files, and folders of other machines tell nothing. A file is told of once it has stopped changing.
 */
export async function* editsOf({ files, sleep, signal }: Watching): AsyncGenerator<ReadonlySet<string>> {
  const looks = new Map(files().map((file) => [file, settledAt(stateOf(file))]))
  while (!signal.aborted) {
    await sleep(LOOK_EVERY_MS, signal)
    const edited = new Set(files().filter((file) => isEdited(looks, file)))
    if (edited.size > 0 && !signal.aborted) yield edited
  }
}

/** What a file was when it had settled, and at the last look. */
type Look = { readonly settled: string; readonly last: string }

function settledAt(state: string): Look {
  return { settled: state, last: state }
}

function isEdited(looks: Map<string, Look>, file: string): boolean {
  const state = stateOf(file)
  const { settled, last } = looks.get(file) ?? settledAt(state)
  const isStill = state === last
  looks.set(file, isStill ? settledAt(state) : { settled, last: state })
  return isStill && state !== settled
}

/** Changes with each edit; the same text written again is an edit, too. */
function stateOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.mode}`
}
