import type { Problem } from '../../client/link.ts'
import { tiers } from '../../model/words.ts'
import type { SeenParticipant } from '../../nouns/people.ts'
import { type DialogSpec, needed, reasonField } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import { text } from '../shell/read.ts'
import type { Host } from '../shell/screen.ts'

const reason = reasonField('Reason (saved in the audit log)')
const tier = needed({ name: 'tier', label: 'New tier', choices: tiers }, 'a tier')

const untold: Problem = { kind: 'failed', sentence: 'Choose a tier.', facts: [], next: [] }

export function tierDialog(host: Host, person: SeenParticipant): DialogSpec {
  const { id } = person
  return {
    title: 'SET A TIER',
    about: `${text(person.name) || 'no name'}  ${id}`,
    facts: () => [
      ['who', `${text(person.name) || 'no name'}  ${id}`],
      ['tier', person.verification_tier],
      ['What it does', 'the new tier applies from the next call'],
    ],
    fields: [tier, reason],
    verb: 'Set',
    command: ({ tier: said, reason: why }) =>
      shellCommand(host, ['admin', 'participants', 'tier', id, said || '…', '--reason', why || '…']),
    send: async ({ tier: said, reason: why = '' }) => {
      const chosen = tiers.find((one) => one === said)
      if (chosen === undefined) return { ok: false, problem: untold }
      const body = { verification_tier: chosen, reason: why.trim() }
      return ask(
        host.link,
        { name: 'setParticipant', asked: { params: { id }, body } },
        ({ verification_tier: now }) => `${id} is ${now}.`,
      )
    },
  }
}

export function suspendDialog(host: Host, person: SeenParticipant): DialogSpec {
  const { id } = person
  const isSuspended = Boolean(person.suspended_at)
  return {
    title: isSuspended ? 'LIFT A SUSPENSION' : 'SUSPEND SOMEBODY',
    about: `${text(person.name) || 'no name'}  ${id}`,
    facts: () => [
      ['who', `${text(person.name) || 'no name'}  ${id}`],
      ...(isSuspended
        ? [['What it does', 'key, wallet and listings work again'] as const]
        : [
            [
              'What stops',
              'its key can only read, its wallet cannot pay, its listings and requests are hidden',
            ] as const,
            ['What goes on', 'open jobs continue; its earnings are paid'] as const,
          ]),
    ],
    fields: [reason],
    verb: isSuspended ? 'Lift' : 'Suspend',
    command: ({ reason: why }) =>
      shellCommand(host, ['admin', 'participants', isSuspended ? 'unsuspend' : 'suspend', id, '--reason', why || '…']),
    send: ({ reason: why = '' }) => {
      const body = { suspended: !isSuspended, reason: why.trim() }
      return ask(host.link, { name: 'setParticipant', asked: { params: { id }, body } }, ({ suspended_at: since }) =>
        since === null ? `${id} is no longer suspended.` : `${id} is suspended.`,
      )
    },
  }
}
