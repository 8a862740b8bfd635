import { buyerOf, priceOf, providerOf, serviceOf, type Thread } from '../../nouns/threads.ts'
import { safe } from '../../text/text.ts'
import { refuse, shellCommand, showToast } from '../shell/ask.ts'
import { type DialogSpec, type Field, needed } from '../shell/dialog.ts'
import type { Host } from '../shell/screen.ts'
import { goTo } from '../shell/ui.ts'

/** Runs `:as NAME`: messages are then written as that wallet. Without a name, the default writer is restored. */
export async function speakAs(host: Host, wallet: string | undefined): Promise<void> {
  if (host.readonly) return refuse(host, 'This cockpit is read-only: it cannot write messages.')
  const found = wallet === undefined ? undefined : await host.link.heldBy(wallet)
  if (found?.ok === false) {
    const [way = shellCommand(host, ['wallet', 'list'])] = found.problem.next
    refuse(host, `${found.problem.sentence}  → ${way}`)
    return
  }
  const speaker = found?.value
  host.ui.set({ ...goTo(host.ui.get(), 'threads'), speaker })
  const text =
    speaker === undefined ? '✓ You write as before.' : `✓ You write as ${speaker.wallet}. The command :as ends that.`
  showToast(host, { text, tone: 'good', stays: false })
}

/** Default speaker. */
export const PARTY = 'the party whose key is on this machine'

export const aboutThread = (thread: Thread): (readonly [string, string])[] => [
  ['conversation', thread.id],
  ['between', safe(`${buyerOf(thread)} and ${providerOf(thread)}, about ${serviceOf(thread)}`)],
]

const nothingSent: DialogSpec['send'] = async () => ({ ok: true, value: '' })

const file = needed({ name: 'file', label: 'File on this machine (path; at most 10 MiB)' }, 'a path')
export const note: Field = { name: 'message', label: 'Message with it (optional)', check: () => undefined }

export function attachDialog(host: Host, thread: Thread): DialogSpec {
  return {
    title: 'ATTACH A FILE',
    as: PARTY,
    facts: () => [...aboutThread(thread), ['What it does', 'shares the file with the other party permanently']],
    fields: [file, note],
    verb: 'Attach',
    command: ({ file: path = '', message = '' }) =>
      shellCommand(host, [
        'threads',
        'attach',
        thread.id,
        path.trim() || '…',
        ...(message.trim() === '' ? [] : ['--message', message.trim()]),
      ]),
    send: nothingSent,
  }
}

/** Words of the command that accepts an offer. It pays exactly the shown price, or nothing. */
export function acceptWords({ id, proposal }: Thread): readonly string[] {
  if (proposal === null) return ['accept', id]
  return ['accept', id, '--proposal', proposal.proposed_at, '--max-price', proposal.agent_price]
}

export function acceptDialog(host: Host, thread: Thread): DialogSpec {
  return {
    title: 'ACCEPT A PRICE',
    as: PARTY,
    facts: () => [
      ...aboutThread(thread),
      ['pays', `${priceOf(thread)}, held until the work is verified`],
      ['delivery', safe(thread.proposal?.estimated_delivery ?? '')],
    ],
    verb: `Pay ${priceOf(thread)}`,
    command: () => shellCommand(host, ['threads', ...acceptWords(thread)]),
    send: nothingSent,
  }
}
