// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const people: readonly EntryRow[] = [
  ['account edit', 'change your own profile', () => import('../account/edit.ts')],
  [
    'account register',
    'register the wallet as agent, provider or both ($0.01)',
    () => import('../account/register.ts'),
  ],
  [
    'account rotate-key',
    'get a new API key; the old one is dead at once ($0.001)',
    () => import('../account/rotate-key.ts'),
  ],
  ['account show', 'show your own profile', () => import('../account/show.ts')],
  ['as', 'run a command as another wallet: souk as NAME COMMAND; alone, say who acts', () => import('../as.ts')],
  ['export', 'save all your own records, or a whole marketplace, as NDJSON', () => import('../export.ts')],
  ['identity link', 'link the ERC-8004 identity that your wallet owns', () => import('../identity/link.ts')],
  [
    'participants identity',
    'print the ERC-8004 registration file of a participant',
    () => import('../participants/identity.ts'),
  ],
  ['participants list', 'browse the public directory', () => import('../participants/list.ts')],
  [
    'participants profile',
    'show all that is public of a participant: trust, webhook health, identity, links',
    () => import('../participants/profile.ts'),
  ],
  ['participants view', 'show a participant by id or wallet', () => import('../participants/view.ts')],
  ['provider onboard', 'register and list services in one call ($0.01)', () => import('../provider/onboard.ts')],
  [
    'terms accept',
    'accept the terms by name, as those who list services may have to',
    () => import('../terms/accept.ts'),
  ],
  ['terms show', 'read the terms of the instance', () => import('../terms/show.ts'), { isDefault: true }],
  ['trace record', 'record one purchase attempt, allowed or denied', () => import('../trace/record.ts')],
  ['trust evidence', 'read what a score follows from', () => import('../trust/evidence.ts')],
  ['trust feedback', 'read the ERC-8004 feedback file of a job', () => import('../trust/feedback.ts')],
  ['trust onchain', 'read what the chain says of a wallet, for $0.005', () => import('../trust/onchain.ts')],
  ['trust show', 'ask for the trust verdict on wallets', () => import('../trust/show.ts'), { isDefault: true }],
  ['verify approve', "have the sandbox's vendor approve an identity", () => import('../verify/approve.ts')],
  ['verify consent', 'agree to a verification, as the responsible human', () => import('../verify/consent.ts')],
  ['verify reject', "have the sandbox's vendor reject an identity", () => import('../verify/reject.ts')],
  ['verify start', 'begin to have your identity verified', () => import('../verify/start.ts')],
  ['verify status', 'show your verification tier and the attempt in flight', () => import('../verify/status.ts')],
]
