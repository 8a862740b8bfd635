import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { RawAnswer } from '../../client/exchange.ts'
import { readText, removeFile, writePrivate } from '../../client/files.ts'
import { isObject, parseJson } from '../../core/json.ts'
import type { CommandContext } from '../command.ts'
import type { RawCall, Session } from '../session.ts'

const ANSWERS_MAX = 100
const ANSWER_CHARS_MAX = 4 * 1024 * 1024
const OK = 200

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'io'>

/**
 * Returns a recent cached answer to the same question. Otherwise asks the instance, and caches a successful answer in a
 * private file.
 */
export async function keptFor(
  { places, io }: Context,
  { maxAgeMs, file, ask }: { readonly maxAgeMs: number; readonly file: string; readonly ask: () => Promise<RawAnswer> },
): Promise<RawAnswer> {
  const folder = join(places.cache, 'answers')
  const path = join(folder, file)
  const kept = answerIn(path, io.now() - maxAgeMs)
  if (kept !== undefined) return kept
  const answer = await ask()
  const text = JSON.stringify({ at: io.now(), answer })
  if (answer.status === OK && text.length <= ANSWER_CHARS_MAX) {
    makeRoom(folder)
    writePrivate(path, text)
  }
  return answer
}

/** Name of the file that caches a question's answer. It depends on the caller, so callers share no answers. */
export function fileFor({ target }: Session, { method, path, query, headers = {} }: RawCall): string {
  const asked = JSON.stringify([target.instance, target.url, method, path, query ?? {}, Object.entries(headers).sort()])
  return `${createHash('sha256').update(asked).digest('hex')}.json`
}

function answerIn(path: string, since: number): RawAnswer | undefined {
  const kept = parsed(readText(path))
  if (!isObject(kept) || typeof kept.at !== 'number' || kept.at < since) return undefined
  const { answer } = kept
  if (!isObject(answer) || typeof answer.status !== 'number' || !isObject(answer.headers)) return undefined
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
  return { status: answer.status, headers, body: answer.body }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parseJson(text)
  } catch {
    // Damaged: ask again.
    return undefined
  }
}

/** Removes the oldest. */
function makeRoom(folder: string): void {
  const files = filesIn(folder).map((name) => ({ path: join(folder, name), at: changedAt(join(folder, name)) }))
  for (const { path } of files.sort((a, b) => b.at - a.at).slice(ANSWERS_MAX - 1)) removeFile(path)
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The folder is created with the first answer.
    return []
  }
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
