import { join } from 'node:path'
import { readText, writeJson } from '../../client/files.ts'
import { isObject, parseJson } from '../../core/json.ts'
import type { Thread } from '../../nouns/threads.ts'
import { bold, dim, green } from '../../text/text.ts'
import { headersAt } from '../account.ts'
import type { CommandContext } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import * as z from '../params.ts'
import type { Session, SessionHost } from '../session.ts'

export type ThreadMessage = NonNullable<Thread['messages']>[number]

/** Reads a conversation with the account's key or the job's token. */
export async function readThread(host: Pick<SessionHost, 'places'>, session: Session, id: string): Promise<Thread> {
  return session.call('getThread', { params: { id }, headers: await headersAt(host, session, id) })
}

/** Options of message commands, also for conversations with the house. */
export const messageWords = {
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    text: z.text({ description: 'message, or - for stdin' }),
  }),
  options: z.object({ message: z.text({ short: 'm', description: 'message, or - for stdin', value: 'text' }) }),
  view: ({ id }: { readonly id: string }, io: Io) => io.line(`${green('✓')} sent   ${id}`),
} as const

type Sending = {
  readonly io: Io
  readonly args: z.output<typeof messageWords.args>
  readonly options: z.output<typeof messageWords.options>
}

/** The message to send; `-` reads it from stdin. @throws CliError `usage` if there is no message, or more than one */
export async function sent({ io, args, options }: Sending) {
  const [said, ...more] = [args.text, options.message].filter((one) => one !== undefined)
  if (said === undefined || more.length > 0) throw usage('Give the message once: "TEXT", -m TEXT, or - for stdin.')
  return { params: { id: args.thread }, body: { message: said === '-' ? (await io.stdin()).trimEnd() : said } }
}

export function showThread(thread: Thread, io: Io): void {
  io.line(`${bold(thread.thread_id)}   ${thread.status}   about ${thread.service_id}`)
  io.line(`  provider  ${thread.provider_id}   buyer ${thread.agent_id ?? 'not registered'}`)
  const { proposal, job_id } = thread
  if (proposal) {
    const time = proposal.estimated_delivery === undefined ? '' : `, in ${proposal.estimated_delivery}`
    io.line(
      `  price     $${proposal.price}${time}: you pay $${proposal.agent_price}, the provider gets $${proposal.provider_net_price}`,
    )
    io.line(`            ${proposal.status}${proposal.status === 'open' ? ` until ${proposal.expires_at}` : ''}`)
  }
  if (job_id !== null) io.line(`  job       ${job_id}`)
}

export function showMessage({ created_at: at, author_role: role, type, body, file_id }: ThreadMessage, io: Io): void {
  const kind = type === 'message' ? '' : dim(` (${type})`)
  io.line(`${dim(at)}  ${role}${kind}  ${body}${file_id === undefined ? '' : `  ${file_id}`}`)
}

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
