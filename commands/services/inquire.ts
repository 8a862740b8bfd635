import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import { inputFrom } from '../../src/cli/nouns/services/input.ts'
import { checkNames } from '../../src/cli/nouns/services/input-check.ts'
import { findListing } from '../../src/cli/nouns/services/services.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import type { SentBody } from '../../src/client/call.ts'
import { cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services inquire',
  summary: 'ask a provider about a service, for $0.001: opens a conversation',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options: z.object({
    message: z.string().optional().meta({ short: 'm', description: 'what you want, or - for stdin', value: 'text' }),
    input: z
      .array(z.string())
      .default([])
      .meta({ short: 'i', description: 'a member of the input instead', value: 'name=value' }),
  }),
  examples: [
    'souk services inquire svc_0123456789abcdef -m "Could you do ten at once?"',
    'souk services inquire svc_0123456789abcdef -i pages=12 --json',
  ],
  async run(context) {
    const { message, input } = context.options
    if ((message === undefined) === (input.length === 0)) throw usage('Say what you want: -m TEXT, or -i NAME=VALUE.')
    const session = await context.session()
    const listing = await findListing(session, context.args.service)
    const read = inputFrom(listing.input_schema, input)
    checkNames(listing, read.unknown)
    const text = message === '-' ? (await context.io.stdin()).trimEnd() : message
    const { answer } = await pay(context, session, {
      endpoint: 'inquire',
      asked: {
        params: { id: listing.id },
        body: {
          brief: text ?? unjudged<Exclude<SentBody<'inquire'>['brief'], string>>(read.input),
        },
      },
    })
    return answer
  },
  view({ thread_id, service_id }, io) {
    io.line(`${green('✓')} asked about ${service_id}   ${thread_id}`)
    io.note(`  next: ${cyan(io.hint(`souk threads view ${thread_id}`))}`)
  },
})
