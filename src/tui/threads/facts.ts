import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { threadFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { shortAddress } from '../../text/text.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'
import type { ThreadView } from '../shell/ui.ts'

/** Conversations of a list, the last changed first. */
export const THREADS_PAGE = 50
const MESSAGES = 100

type Answered = WireAnswer<Api['getThread']>
type Named = WireAnswer<Api['readAnyThread']>

export type ThreadFacts = {
  readonly id: string
  readonly status: Answered['status']
  readonly buyerId: string
  readonly providerId: string
  /** Names, or what stands for them. */
  readonly buyer: string
  readonly provider: string
  readonly service: string
  readonly jobId: string
  /** What the buyer pays, like `$8.40`; empty without an offer. */
  readonly price: string
  readonly offer: OfferFacts | undefined
  readonly createdAt: number | undefined
  readonly updatedAt: number | undefined
  readonly messages: readonly Said[]
}

type OfferFacts = {
  readonly status: string
  /** What names it among those of the conversation, as the interface has it. */
  readonly proposedAt: string
  readonly price: string
  readonly pays: string
  readonly delivery: string
  readonly expiresAt: number | undefined
}

export type Said = { readonly at: number | undefined; readonly who: string; readonly words: string }

const WALLET = /^0x[0-9a-fA-F]{40}$/
const named = (name: string, id: string) => (WALLET.test(name) ? shortAddress(name) : name || id)

function readThread(thread: Answered | Named): ThreadFacts {
  const { proposal } = thread
  const about = 'about' in thread ? thread.about : undefined
  const buyer = named(text(about?.buyer), text(thread.agent_id))
  const provider = named(text(about?.provider), thread.provider_id)
  const names = { buyer, provider }
  return {
    id: thread.id,
    status: thread.status,
    buyerId: text(thread.agent_id),
    providerId: thread.provider_id,
    buyer,
    provider,
    service: text(about?.service) || thread.service_id,
    jobId: text(thread.job_id),
    price: proposal === null ? '' : `$${proposal.agent_price}`,
    offer: proposal === null ? undefined : readOffer(proposal),
    createdAt: time(thread.created_at),
    updatedAt: time(thread.updated_at),
    messages: (thread.messages ?? []).map((message) => readMessage(message, names)),
  }
}

/** Whether somebody is the house, for which the operator speaks; nobody for no id. */
export const fetchIsHouse =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<boolean | undefined>> =>
    id === ''
      ? { ok: true, value: undefined }
      : ask(link, { name: 'getParticipant', asked: { params: { id }, signal } }, ({ first_party }) => first_party)

function readOffer(proposal: NonNullable<Answered['proposal']>): OfferFacts {
  return {
    status: proposal.status,
    proposedAt: proposal.proposed_at,
    price: `$${proposal.price}`,
    pays: `$${proposal.agent_price}`,
    delivery: text(proposal.estimated_delivery),
    expiresAt: time(proposal.expires_at),
  }
}

type Message = NonNullable<Answered['messages']>[number]

function readMessage(
  { created_at, author_role, body, file_id }: Message,
  names: { buyer: string; provider: string },
): Said {
  const who = author_role === 'system' ? 'souk' : names[author_role === 'provider' ? 'provider' : 'buyer']
  return {
    at: time(created_at),
    who,
    words: [text(body), file_id === undefined ? '' : `@ ${text(file_id)}`].filter(Boolean).join('  '),
  }
}

export type Threads = { readonly threads: readonly ThreadFacts[]; readonly total: number }
export type AsWhom = { readonly admin: boolean }
type Wanted = AsWhom & ListPage<typeof threadFields> & { readonly view: ThreadView }

/** What of all conversations a view shows. */
const statusesOf: Readonly<Record<ThreadView, readonly Answered['status'][]>> = {
  open: ['inquiry', 'negotiating', 'accepted', 'in_progress', 'disputed'],
  disputed: ['disputed'],
  over: ['completed', 'verified', 'cancelled'],
  all: [],
}

/** Everybody's, or one's own without the admin credential. */
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
          ({ threads, total }) => ({
            threads: threads.map(readThread),
            total,
          }),
        )
      : ask(link, { name: 'listThreads', asked }, ({ threads, total }) => ({
          threads: threads.filter(({ status }) => statuses.length === 0 || statuses.includes(status)).map(readThread),
          total,
        }))
  }

/** One conversation with what was said last; undefined for none. */
export const fetchThread =
  (link: Link, { id, admin }: AsWhom & { readonly id: string }) =>
  async (signal: AbortSignal): Promise<Outcome<ThreadFacts | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const asked = { params: { id }, query: { limit: String(MESSAGES) }, signal }
    return admin
      ? ask(link, { name: 'readAnyThread', asked }, readThread)
      : ask(link, { name: 'getThread', asked }, readThread)
  }
