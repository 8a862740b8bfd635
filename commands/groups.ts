import type { Group } from '../src/cli/command.ts'

/** Nouns that hold several commands. */
export const groups: readonly Group[] = [
  { name: 'services', heading: 'Market', summary: 'browse and buy services' },
  { name: 'jobs', heading: 'Market', summary: 'follow what was bought' },
  { name: 'threads', heading: 'Market', summary: 'conversations: negotiate a price, deliver, judge' },
  { name: 'requests', heading: 'Market', summary: 'ask for work, and bid on it' },
  { name: 'plans', heading: 'Market', summary: 'services for a price a month or a year' },
  { name: 'subs', heading: 'Market', summary: 'your subscriptions, and those to your plans' },
  { name: 'account', heading: 'People', summary: 'your own registration and profile' },
  { name: 'provider', heading: 'People', summary: 'start to sell' },
  { name: 'participants', heading: 'People', summary: 'who else is here' },
  { name: 'trust', heading: 'People', summary: 'whom to buy from, and why' },
  { name: 'balance', heading: 'Money', summary: 'your pre-funded balance' },
  { name: 'referrals', heading: 'Money', summary: 'earn by referring others' },
  { name: 'money', heading: 'Money', summary: 'the books of the marketplace' },
  { name: 'crons', heading: 'Daemon', summary: 'scheduled jobs' },
  { name: 'clock', heading: 'Daemon', summary: 'business time, movable in the sandbox' },
  { name: 'admin', heading: 'Administration', summary: 'what only the administrator may do' },
  { name: 'admin platform', heading: 'Administration', summary: 'the pause of all paid activity' },
  { name: 'admin escrow', heading: 'Administration', summary: 'the pause of everything that fills escrow' },
  { name: 'admin jobs', heading: 'Administration', summary: 'all jobs, disputes and their evidence' },
  { name: 'admin sdn', heading: 'Administration', summary: 'sanctioned wallets, by list and by hand' },
  { name: 'compliance', heading: 'Health and interface', summary: 'the sanctions list, and who is on it' },
  { name: 'endpoints', heading: 'Health and interface', summary: 'rows of the interface and their status' },
  { name: 'wallet', heading: 'Wallets and remotes', summary: 'keys to pay and sign with' },
  { name: 'remote', heading: 'Wallets and remotes', summary: 'instances other than the local daemon' },
]
