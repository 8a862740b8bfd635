import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import { inputFrom } from '../../src/cli/nouns/services/input.ts'
import { checkNames } from '../../src/cli/nouns/services/input-check.ts'
import { askedInput } from '../../src/cli/nouns/services/input-form.ts'
import { findListing } from '../../src/cli/nouns/services/services.ts'
import * as z from '../../src/cli/params.ts'
import { agreedTo } from '../../src/cli/wallet/agreed.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { type SentBody, wordsOf } from '../../src/client/call.ts'
import { cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services inquire',
  summary: 'ask a provider about a service ($0.001); opens a conversation',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options: z.object({
    message: z.string().optional().meta({ short: 'm', description: 'your question, or - for stdin', value: 'text' }),
    input: z
      .array(z.string())
      .default([])
      .meta({ short: 'i', description: 'an input field, instead of a message', value: 'name=value' }),
    interactive: z.boolean().default(false).meta({ description: 'ask for each input, then confirm the price' }),
  }),
  examples: [
    'souk services inquire svc_0123456789abcdef -m "Could you do ten at once?"',
    'souk services inquire svc_0123456789abcdef -i pages=12 --json',
  ],
  prints: 'inquire',
  async run(context) {
    const { message, input, interactive } = context.options
    if (message === undefined && input.length === 0 && !interactive)
      throw usage('Say what you want: -m TEXT, or -i NAME=VALUE, or be asked: --interactive.')
    if (message !== undefined && (input.length > 0 || interactive))
      throw usage('Say it once: -m TEXT, or the members of the input.')
    const session = await context.session()
    const listing = await findListing(session, context.args.service)
    const given = inputFrom(listing.input_schema, input)
    const read = interactive ? await askedInput(context.io, listing, given) : given
    checkNames(listing, read.unknown)
    const text = message === '-' ? (await context.io.stdin()).trimEnd() : message
    const asked = {
      params: { id: listing.id },
      body: { brief: text ?? unjudged<Exclude<SentBody<'inquire'>['brief'], string>>(read.input) },
    }
    const what = { ...wordsOf('inquire', asked), title: `ask about ${listing.name}`, input: read.input }
    const host = interactive ? await agreedTo(context, session, what) : context
    const { answer } = await pay(host, session, { endpoint: 'inquire', asked })
    return answer
  },
  view({ thread_id, service_id }, io) {
    io.line(`${green('✓')} asked about ${service_id}   ${thread_id}`)
    io.note(`  next: ${cyan(io.hint(`souk threads view ${thread_id}`))}`)
  },
})
