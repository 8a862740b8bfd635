import { z } from 'zod'
import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { inputFrom } from '../../src/cli/nouns/input.ts'
import { findListing } from '../../src/cli/nouns/services.ts'
import { pay } from '../../src/cli/paying.ts'
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
    const text = message === '-' ? (await context.io.stdin()).trimEnd() : message
    const { answer } = await pay(context, session, {
      method: 'POST',
      path: `/v1/services/${listing.id}/inquire`,
      body: { brief: text ?? inputFrom(listing.input_schema, input) },
      idempotencyKey: context.globals.idempotencyKey ?? crypto.randomUUID(),
    })
    return answer.body as WireAnswer<Api['inquire']> // the daemon's tests hold the answer to the contract
  },
  view({ thread_id, service_id }, io) {
    io.line(`${green('✓')} asked about ${service_id}   ${thread_id}`)
    io.note(`  next: ${cyan(`souk threads view ${thread_id}`)}`)
  },
})
