import type { Input } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc } from '../../../src/core/money.ts'
import type { SaleTerms } from '../../../src/model/service.ts'
import type { Proposal } from '../../../src/model/thread.ts'
import { transition } from '../../kernel/machine.ts'
import { threadMachine } from '../jobs/machine.ts'
import { split } from '../ledger/legs.ts'
import { chosenOffer, stillGood, type Tender, windowAfter } from '../listings/quote-window.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { saleKind, termsOf } from '../listings/versions.ts'
import { PROPOSAL_LIFE_MS, proposalMachine, proposalStatusAt } from '../threads/messages.ts'
import type { ThreadRow } from '../threads/rows.ts'

type Offering = { readonly price: Usdc; readonly proposed_at: number } & Pick<
  Input<Api['proposePrice']>['body'],
  'message' | 'estimated_delivery'
>

/** Copies the listing's terms, so that later edits do not change the offer. */
export function proposalOf(service: ServiceRow, offering: Offering): Proposal {
  const { price, proposed_at, message, estimated_delivery } = offering
  const { agent, net } = split(saleKind(service), price)
  const terms = termsOf(service)
  return {
    status: 'open',
    price,
    agent_price: agent,
    provider_net_price: net,
    message: message ?? '',
    estimated_delivery: estimated_delivery ?? null,
    terms: estimated_delivery === undefined ? terms : { ...terms, estimated_delivery },
    proposed_at,
    expires_at: proposed_at + PROPOSAL_LIFE_MS,
  }
}

export function promisedBy({ terms, estimated_delivery }: Proposal, service: ServiceRow): SaleTerms {
  if (terms) return terms
  return estimated_delivery === null ? termsOf(service) : { ...termsOf(service), estimated_delivery }
}

/** An open proposal that `after` replaces, and how long it stays valid. @throws AppError 409 as `windowAfter` does */
export function replacedBy(
  after: Proposal,
  { proposal, previous }: ThreadRow,
  { now, wall }: { readonly now: number; readonly wall: number },
): ThreadRow['previous'] {
  if (proposal === null || proposalStatusAt(proposal, now) !== 'open') return undefined
  return windowAfter({ before: proposal, after, previous, wall })
}

type ProposalParams = { readonly at: number; readonly proposedAt: number | undefined }
type Choosing = ProposalParams & { readonly wall: number; readonly tender: Tender }

/** The proposal that the payment names, else the one that `chosenOffer` picks. @throws AppError 409 */
export function chosenProposal(thread: ThreadRow, { at, wall, tender, proposedAt }: Choosing): Proposal {
  const { previous, ...now } = thread
  const before = stillGood(previous, wall)
  const chosen = chosenOffer({ before: offerOf(before, at), today: offerOf(thread.proposal, at) }, tender)
  return acceptable(before && previous ? { ...now, previous } : now, {
    at,
    proposedAt: proposedAt ?? chosen?.proposal.proposed_at,
  })
}

function offerOf(proposal: Proposal | null | undefined, at: number) {
  if (!proposal || proposalStatusAt(proposal, at) !== 'open') return undefined
  return { price: proposal.agent_price, settle: 'first', proposal } as const
}

/** The proposal to accept. @throws AppError 409 if none is open, or the caller named another one */
export function acceptable(thread: ThreadRow, { at, proposedAt }: ProposalParams): Proposal {
  transition(threadMachine, { event: 'accept', from: thread.status, by: 'buyer' })
  const before = thread.previous?.version
  const proposal = before !== undefined && before.proposed_at === proposedAt ? before : thread.proposal
  if (!proposal) throw new Error(`${thread.id} has no price to agree on`)
  if (proposedAt !== undefined && proposedAt !== proposal.proposed_at) {
    throw new AppError('conflict', 'The provider made a newer proposal: review it first.', {
      extra: {
        proposed_at: new Date(proposal.proposed_at).toISOString(),
        agent_price: formatAmount(proposal.agent_price),
      },
    })
  }
  transition(proposalMachine, { event: 'accept', from: proposalStatusAt(proposal, at), by: 'buyer' })
  return proposal
}
