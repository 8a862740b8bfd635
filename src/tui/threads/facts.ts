import type { threadFields } from '../../api/endpoint/list-fields.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Thread } from '../../nouns/threads.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask, type glance } from '../shell/queries.ts'
import type { ThreadView } from '../shell/ui.ts'

/** Conversations per page. */
export const THREADS_PAGE = 50
const MESSAGES = 100

/** Whether the provider is the marketplace itself (`house`). The operator may then write for it. */
export const fetchIsHouse =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<boolean | undefined>> =>
    id === ''
      ? { ok: true, value: undefined }
      : ask(link, { name: 'getParticipant', asked: { params: { id }, signal } }, ({ first_party }) => first_party)

export type Threads = { readonly threads: readonly Thread[]; readonly total: number }
export type ReaderRole = { readonly admin: boolean }
type Wanted = ReaderRole & ListPage<typeof threadFields> & { readonly view: ThreadView }

const statusesOf: Readonly<Record<ThreadView, readonly Thread['status'][]>> = {
  open: ['inquiry', 'negotiating', 'accepted', 'in_progress', 'disputed'],
  disputed: ['disputed'],
  over: ['completed', 'verified', 'cancelled'],
  all: [],
}

/** Fetches a page of conversations. Without the admin key, only own ones. */
export const fetchThreads =
  (link: Link, { admin, page, view, asked: wanted }: Wanted) =>
  (signal: AbortSignal): Promise<Outcome<Threads>> => {
    const asked = { query: pageOf(page, THREADS_PAGE), signal }
    const statuses = statusesOf[view]
    const ofView = statuses.length === 0 ? '' : `status:${statuses.join(',')}`
    const filter = [ofView, wanted.filter ?? ''].filter(Boolean).join(' ')
    return admin
      ? ask(
          link,
          {
            name: 'listAllThreads',
            asked: { ...asked, query: { ...asked.query, ...wanted, ...(filter === '' ? {} : { filter }) } },
          },
          ({ threads, total }) => ({ threads, total }),
        )
      : ask(link, { name: 'listThreads', asked }, ({ threads, total }) => ({
          threads: threads.filter(({ status }) => statuses.length === 0 || statuses.includes(status)),
          total,
        }))
  }

/** Fetches a conversation with its newest messages. Undefined without an id. */
export const fetchThread =
  (link: Link, { id, admin }: ReaderRole & { readonly id: string }, headers?: typeof glance) =>
  async (signal: AbortSignal): Promise<Outcome<Thread | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const asked = { params: { id }, query: { limit: String(MESSAGES) }, signal }
    return admin
      ? ask(link, { name: 'readAnyThread', asked: { ...asked, ...(headers && { headers }) } }, (thread) => thread)
      : ask(link, { name: 'getThread', asked }, (thread) => thread)
  }
