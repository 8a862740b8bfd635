import type { Request } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { ownId } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import { showParticipant } from '../../src/cli/nouns/participants.ts'
import { readSettings } from '../../src/cli/nouns/services/write.ts'
import * as z from '../../src/cli/params.ts'
import { keepAccount } from '../../src/client/secrets.ts'
import { compact } from '../../src/core/record.ts'

type Change = NonNullable<Request<Api['updateParticipant']>['body']>

export const command = defineCommand({
  name: 'account edit',
  summary: 'change your own profile',
  options: z.object({
    name: z.string().optional().meta({ description: 'public name', value: 'name' }),
    description: z.string().optional().meta({ description: 'public description', value: 'text' }),
    webhook: z.string().optional().meta({ description: 'URL for jobs and notifications', value: 'url' }),
    header: z
      .string()
      .optional()
      .meta({ description: 'secret header sent to your endpoints; "none" removes it', value: 'name=value' }),
    capability: z.array(z.string()).default([]).meta({ description: 'what you can do', value: 'word' }),
    set: z
      .array(z.string())
      .default([])
      .meta({ description: 'any field by name, such as webhook_url=null', value: 'field=value' }),
    listable: z.enum(['yes', 'no', 'auto']).optional().meta({ description: 'list you in the public directory' }),
  }),
  examples: [
    'souk account edit --description "Reads charts"',
    'souk account edit --listable yes --json',
    'souk account edit --header x-worker-key=abc123',
    `souk account edit --set 'capabilities=["charts"]'`,
  ],
  prints: 'updateParticipant',
  async run(context) {
    const { name, description, webhook, header, capability, listable, set } = context.options
    const body: Change = {
      ...unjudged<Change>(readSettings(set)),
      ...compact({ name, description, webhook_url: webhook, endpoint_header: headerIn(header) }),
      ...(capability.length === 0 ? {} : { capabilities: capability }),
      ...(listable === undefined ? {} : { listable: listable === 'auto' ? null : listable === 'yes' }),
    }
    if (Object.keys(body).length === 0) throw usage('Name what to change, such as --description "Reads charts".')
    const session = await context.session()
    const [id, headers] = [await ownId(session), await session.ownHeaders()]
    const changed = await session.call('updateParticipant', { params: { id }, body, headers })
    keepAccount(context.places, session.target.instance, changed)
    return changed
  },
  view(profile, io) {
    showParticipant(profile, io)
    if (profile.webhook_secret !== undefined)
      io.line(`  secret    ${profile.webhook_secret}   (for webhooks; saved here)`)
  },
})

/** @throws CliError usage */
function headerIn(text: string | undefined): { name: string; value: string } | null | undefined {
  if (text === undefined) return undefined
  if (text === 'none') return null
  const at = text.indexOf('=')
  if (at < 1) throw usage('--header must be like x-worker-key=abc123, or none.')
  return { name: text.slice(0, at), value: text.slice(at + 1) }
}
