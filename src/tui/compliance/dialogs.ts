import type { Problem } from '../../client/link.ts'
import type { Sent } from '../shell/ask.ts'
import type { DialogSpec, Field } from '../shell/dialog.ts'
import { nameField, shellCommand, targetFacts } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import type { AttemptFacts } from './facts.ts'

const decisions = ['approved', 'rejected'] as const
const WALLET = /^0x[0-9a-fA-F]{40}$/

const reason: Field = {
  name: 'reason',
  label: 'Reason',
  check: (value) => (value.trim() === '' ? 'needs a reason' : undefined),
}

const wallet: Field = {
  name: 'wallet',
  label: 'Wallet (0x and 40 digits)',
  check: (value) => (WALLET.test(value.trim()) ? undefined : 'needs a wallet'),
}

const decision: Field = {
  name: 'decision',
  label: 'Decision',
  choices: decisions,
  check: (value) => (value === '' ? 'needs a decision' : undefined),
}

const undecided: Problem = { kind: 'failed', sentence: 'It needs a decision.', facts: [], next: [] }

/** Says as the vendor of the sandbox who stands behind a participant. */
export function attemptDialog(host: Host, { id, participant, name, operator }: AttemptFacts): DialogSpec {
  return {
    title: 'DECIDE AN IDENTITY CHECK',
    about: `${id}  ${participant}`,
    facts: () => [
      ...targetFacts(host),
      ['', ''],
      ['attempt', id],
      ['of', name === '' ? participant : `${name}, ${participant}`],
      ['operator', operator || 'not named'],
      ['What it does', 'the participant gets, or is refused, the tier of a checked identity'],
    ],
    fields: [decision, reason, ...nameField(host)],
    verb: 'Decide',
    command: ({ decision: said, reason: why = '' }) =>
      shellCommand(host, ['verify', said === 'rejected' ? 'reject' : 'approve', id, '--reason', why || '…']),
    send: async ({ decision: said, reason: why = '' }) => {
      const chosen = decisions.find((one) => one === said)
      if (chosen === undefined) return { ok: false, problem: undecided }
      const body = { decision: chosen, reason: why.trim() }
      return ask(
        host.link,
        { name: 'decideVerification', asked: { params: { id }, body } },
        ({ status }) => `${id} is ${status}.`,
      )
    },
  }
}

/** Refuses a wallet by hand, or no longer. */
export function walletDialog(host: Host, change: 'add' | 'remove'): DialogSpec {
  const isAdded = change === 'add'
  return {
    title: isAdded ? 'REFUSE A WALLET' : 'NO LONGER REFUSE A WALLET BY HAND',
    facts: () => [
      ...targetFacts(host),
      ['', ''],
      isAdded
        ? ['What it does', 'it pays nothing and is paid nothing from now on; what is on its way to it is kept back']
        : ['What it does', 'what was added by hand goes; what the list itself names stays refused'],
    ],
    fields: [wallet, ...(isAdded ? [reason] : []), ...nameField(host)],
    verb: isAdded ? 'Refuse' : 'Remove',
    command: ({ wallet: address = '', reason: why = '' }) =>
      shellCommand(host, ['admin', 'sdn', change, address || '0x…', ...(isAdded ? ['--reason', why || '…'] : [])]),
    send: ({ wallet: address = '', reason: why = '' }): Sent => {
      const at = address.trim()
      return isAdded
        ? ask(
            host.link,
            { name: 'addSanction', asked: { body: { wallet: at, reason: why.trim() } } },
            () => `${at} is refused.`,
          )
        : ask(
            host.link,
            { name: 'removeSanction', asked: { params: { wallet: at } } },
            () => `${at} is no longer refused by hand.`,
          )
    },
  }
}
