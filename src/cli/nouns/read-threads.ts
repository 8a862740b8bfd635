import { join } from 'node:path'
import { readText, writeJson } from '../../client/files.ts'
import { isObject, parseJson } from '../../core/json.ts'
import type { Thread } from '../../nouns/threads.ts'
import type { CommandContext } from '../command.ts'
import type { Session } from '../session.ts'

/** Maximum number of conversations remembered. Messages in forgotten conversations count as unread. */
const KNOWN_MAX = 2_000

type Context = Pick<CommandContext<unknown, unknown>, 'places'>

function fileOf({ places }: Context): string {
  return join(places.state, 'threads-read.json')
}

function read(host: Context): Readonly<Record<string, number>> {
  try {
    const known = parseJson(readText(fileOf(host)) ?? '{}')
    const entries = isObject(known) ? Object.entries(known) : []
    return Object.fromEntries(entries.flatMap(([key, seen]) => (typeof seen === 'number' ? [[key, seen]] : [])))
  } catch {
    // Damaged: start again.
    return {}
  }
}

/** Key of a reader: wallet and instance. */
async function readerOf({ target, wallet }: Session): Promise<string> {
  return `${target.instance} ${(await wallet())?.address ?? ''}`
}

export async function markRead(host: Context, session: Session, thread: Thread): Promise<void> {
  const key = `${await readerOf(session)} ${thread.thread_id}`
  const { [key]: _before, ...others } = read(host)
  const kept = Object.entries(others).slice(1 - KNOWN_MAX)
  try {
    writeJson(fileOf(host), Object.fromEntries([...kept, [key, thread.message_count]]))
  } catch {
    // Cannot write: ignore.
  }
}

/** Returns a function that counts the messages of a conversation that were not shown on this machine yet. */
export async function newMessages(host: Context, session: Session): Promise<(thread: Thread) => number> {
  const [known, reader] = [read(host), await readerOf(session)]
  return ({ thread_id: id, message_count: count }) => Math.max(0, count - (known[`${reader} ${id}`] ?? 0))
}

/** Whether the other party wrote one of the last `count` messages. */
export function hasNews({ messages = [] }: Thread, count: number, own: 'buyer' | 'provider'): boolean {
  return count > 0 && messages.slice(-count).some(({ author_role: author }) => author !== own)
}
