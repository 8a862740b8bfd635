import type { Held } from '../../client/link.ts'
import { shellWord } from '../../text/text.ts'
import { refuse, type Sent, showToast } from '../shell/ask.ts'
import { type DialogSpec, type Field, needed } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import type { Host } from '../shell/screen.ts'
import { goTo } from '../shell/ui.ts'
import type { ThreadFacts } from './facts.ts'

/** `:as NAME`: what is said in conversations from now on is said for whoever that wallet is; without a name, no longer. */
export async function speakAs(host: Host, wallet: string | undefined): Promise<void> {
  if (host.readonly) {
    refuse(host, 'This cockpit is for reading: it speaks for nobody.')
    return
  }
  const found = wallet === undefined ? undefined : await host.link.heldBy(wallet)
  if (found?.ok === false) {
    const [way = shellCommand(host, ['wallet', 'list'])] = found.problem.next
    refuse(host, `${found.problem.sentence}  → ${way}`)
    return
  }
  const speaker = found?.value
  host.ui.set({ ...goTo(host.ui.get(), 'threads'), speaker })
  const text = speaker === undefined ? '✓ You speak as before.' : `✓ You speak for ${speaker.wallet}; :as ends it.`
  showToast(host, { text, tone: 'good', stays: false })
}

/** Said by the command line, which has the wallet: what the dialog shows is what it runs. */
export function spoken(host: Host, spec: DialogSpec, speaker: Held | undefined): DialogSpec {
  const as = speaker === undefined ? '' : ` --as ${shellWord(speaker.wallet)}`
  const command: DialogSpec['command'] = (values) => `${spec.command(values)}${as}`
  const voice = speaker === undefined ? {} : { as: speaker.wallet }
  return { ...spec, ...voice, command, send: (values) => run(host, command(values)) }
}

async function run({ commandLine, link }: Host, command: string): Sent {
  const [, ...words] = commandLine?.split(command) ?? []
  if (commandLine === undefined || words.length === 0) {
    return { ok: false, problem: { kind: 'failed', sentence: 'There is no command line here.', facts: [], next: [] } }
  }
  const confirmed = link.place.guarded ? ['--confirm', link.place.name] : []
  return commandLine.run([...words, '--yes', ...confirmed, '--no-input'])
}

/** Who acts where nobody was named. */
export const PARTY = 'the party whose key this machine has'

export const aboutThread = ({ id, buyer, provider, service }: ThreadFacts): (readonly [string, string])[] => [
  ['conversation', id],
  ['between', `${buyer} and ${provider}, about ${service}`],
]

const nothingSent: DialogSpec['send'] = async () => ({ ok: true, value: '' })

const file = needed({ name: 'file', label: 'File of this machine (its path; at most 10 MiB)' }, 'a path')
export const note: Field = { name: 'message', label: 'Message beside it (may stay empty)', check: () => undefined }

/** Puts a file into a conversation. */
export function attachDialog(host: Host, thread: ThreadFacts): DialogSpec {
  return {
    title: 'ATTACH A FILE',
    as: PARTY,
    facts: () => [...aboutThread(thread), ['What it does', 'the other side may download it; it stays there']],
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

/** Pays what is shown, up to its last unit, or nothing: whatever is offered by the time that it runs. */
export function acceptWords({ id, offer }: Pick<ThreadFacts, 'id' | 'offer'>): readonly string[] {
  const shown = offer === undefined ? [] : ['--proposal', offer.proposedAt, '--max-price', offer.pays.replace('$', '')]
  return ['accept', id, ...shown]
}

/** Takes the price that is offered, and pays it. */
export function acceptDialog(host: Host, thread: ThreadFacts): DialogSpec {
  return {
    title: 'ACCEPT A PRICE',
    as: PARTY,
    facts: () => [
      ...aboutThread(thread),
      ['pays', `${thread.price}, held until the work is verified`],
      ['delivery', thread.offer?.delivery ?? ''],
    ],
    verb: `Pay ${thread.price}`,
    command: () => shellCommand(host, ['threads', ...acceptWords(thread)]),
    send: nothingSent,
  }
}
