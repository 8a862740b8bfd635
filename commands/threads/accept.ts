import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import { readThread } from '../../src/cli/nouns/threads.ts'
import * as z from '../../src/cli/params.ts'
import type { Session, SessionHost } from '../../src/cli/session.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import type { Thread } from '../../src/nouns/threads.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

type Proposal = NonNullable<Thread['proposal']>

export const command = defineCommand({
  name: 'threads accept',
  summary: 'accept the offered price and pay it into escrow',
  description:
    'Asks for confirmation; skip it with --yes. Pays only the proposal that was shown; --proposal names one that was shown earlier.',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    proposal: z.string().optional().meta({
      description: 'accept only the offer with this `proposed_at`',
      value: 'time',
    }),
  }),
  examples: [
    'souk threads accept thr_0123456789abcdef --yes',
    'souk threads accept thr_0123456789abcdef --yes --pay x402 --json',
  ],
  async run(context) {
    const session = await context.session()
    const { thread: id } = context.args
    const proposal = await proposalOf(context, session, id)
    checkShown(context, proposal)
    await context.io.confirm(
      `Accept $${proposal.price}? You pay $${proposal.agent_price}, held until you have what you asked for.`,
    )
    const { answer: accepted, payment } = await pay(context, session, {
      endpoint: 'acceptPrice',
      asked: { params: { id }, body: { proposed_at: proposal.proposed_at } },
      stated: ({ amount }) => amount,
      shown: parseAmount(proposal.agent_price) ?? ZERO,
    })
    const { method, amount, transaction } = payment
    return { ...accepted, payment: { method, amount: formatAmount(amount), transaction } }
  },
  view({ job_id, payment, receipt_id }, io) {
    io.line(`${green('✓')} accepted   paid ${bold(`$${payment.amount}`)}   receipt ${receipt_id}   ${job_id} created`)
    io.note(`  next: ${cyan(io.hint(`souk jobs watch ${job_id}`))}`)
  },
})

/** @throws CliError where another was made since what was shown */
function checkShown({ args: { thread }, options }: Named, { proposed_at, agent_price }: Proposal): void {
  if (options.proposal === undefined || options.proposal === proposed_at) return
  const said = `Another price is offered by now: $${agent_price} since ${proposed_at}.`
  throw new CliError('conflict', said, { next: [`souk threads view ${thread}`] })
}

type Named = {
  readonly args: { readonly thread: string }
  readonly options: { readonly proposal?: string | undefined }
}

/** What would be accepted; without an open proposal the instance says what can be done instead. */
async function proposalOf(host: Pick<SessionHost, 'places'>, session: Session, id: string): Promise<Proposal> {
  const { proposal, status } = await readThread(host, session, id)
  if (proposal?.status === 'open') return proposal
  const state = proposal === null ? `the conversation is ${status}` : `the proposal is ${proposal.status}`
  throw new CliError('conflict', `There is no price to accept: ${state}.`, {
    next: [`souk threads send ${id} -m "…"`],
  })
}
