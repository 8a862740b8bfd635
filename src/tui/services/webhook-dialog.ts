import { safe } from '../../text/text.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import { nameField, shellCommand, targetFacts } from '../shell/pause-dialog.ts'
import type { Host } from '../shell/screen.ts'
import type { ServiceFacts } from './facts.ts'
import { testHook } from './rows.ts'

/** Sends a test message to the webhook of one's own listing. */
export function hookDialog(host: Host, { id, name }: ServiceFacts): DialogSpec {
  return {
    title: 'TEST A WEBHOOK',
    about: `${id}  ${name}`,
    facts: () => [
      ...targetFacts(host).filter(([label]) => label !== 'as'),
      ['as', 'its provider'],
      ['', ''],
      ['service', `${id}  ${name}`],
      ['What it does', 'one signed test message is sent to its endpoint; no job, no money'],
    ],
    fields: nameField(host),
    verb: 'Send',
    command: () => shellCommand(host, ['services', 'test', id]),
    send: async () => {
      const answer = await testHook(host.link, id)
      if (!answer.ok) return answer
      const { delivered, words } = answer.value
      if (delivered) return { ok: true, value: safe(`The endpoint took it: ${words}.`) }
      const mend = shellCommand(host, ['services', 'edit', id])
      return { ok: true, value: { text: `✗ Not taken: ${safe(words)}  → ${mend}`, tone: 'bad' } }
    },
  }
}
