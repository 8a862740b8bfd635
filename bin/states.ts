import { bidMachine } from '../daemon/rules/bid-machine.ts'
import { jobMachine } from '../daemon/rules/job-machine.ts'
import { diagram, type Machine } from '../daemon/rules/machine.ts'
import { payoutMachine } from '../daemon/rules/payout-machine.ts'
import { planMachine } from '../daemon/rules/plan-machine.ts'
import { postingMachine } from '../daemon/rules/posting-machine.ts'
import { proposalMachine } from '../daemon/rules/proposal-machine.ts'
import { referralMachine } from '../daemon/rules/referral-machine.ts'
import { subscriptionMachine } from '../daemon/rules/subscription-machine.ts'
import { threadMachine } from '../daemon/rules/thread-machine.ts'

type AnyMachine = Machine<string, string, string, string>

const machines: readonly (readonly [title: string, text: string, machine: AnyMachine])[] = [
  ['Job', 'What was bought, and where its money is.', jobMachine],
  [
    'Thread',
    'A conversation: first a negotiation (`propose`, `accept`, `decline`), then it follows its job. A purchase opens it where its job is.',
    threadMachine,
  ],
  ['Proposal', 'A price that the provider offers in a thread. It expires by the clock.', proposalMachine],
  ['Plan', 'Services of one provider for a price a month or a year.', planMachine],
  [
    'Subscription',
    'The system is the cron `subscriptions`: it charges the balance when a period ends. A charge that fails is tried again after 1, 2 and 3 days.',
    subscriptionMachine,
  ],
  ['Payout', 'Money that leaves through the chain. `blocked` is a failed one whose money is kept.', payoutMachine],
  ['Referral money', 'What referrals earned, on its way to a balance.', referralMachine],
  [
    'Posting',
    'A request for work that providers bid on. It expires by the clock, and once awarded it ends with its job: `complete` when the job is released, `refund` when the payment goes back.',
    postingMachine,
  ],
  ['Bid', 'What a provider offers to do a request for; one live bid for each provider and request.', bidMachine],
]

/** The state tables as a page: the same data that the daemon obeys and that its 409 answers name. */
export function statesPage(): string {
  const sections = machines.map(
    ([title, text, machine]) => `## ${title}\n\n${text}\n\n\`\`\`mermaid\n${diagram(machine)}\n\`\`\`\n`,
  )
  return [
    '# States',
    '',
    'Written by `npm run docs` from the tables in `daemon/rules/`. Each arrow names the event and who may make it happen; anything else is a 409 `invalid_transition` that says `from`, `to` and what is `allowed`.',
    '',
    ...sections,
  ].join('\n')
}
