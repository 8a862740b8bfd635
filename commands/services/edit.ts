import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { readSettings } from '../../src/cli/nouns/service-write.ts'
import { readObjectFile, unjudged } from '../../src/cli/object-file.ts'
import * as z from '../../src/cli/params.ts'
import type { SentBody } from '../../src/client/call.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services edit',
  summary: 'change one of your listings',
  args: z.object({ service: z.string().meta({ description: 'id of the listing' }) }),
  options: z.object({
    file: z
      .string()
      .optional()
      .meta({ short: 'f', description: 'JSON file of the changes, - for stdin', value: 'file' }),
    set: z.array(z.string()).default([]).meta({ description: 'one field; repeat it', value: 'field=value' }),
  }),
  examples: [
    'souk services edit svc_0123456789abcdef --set price=0.75',
    'souk services edit svc_0123456789abcdef --set status=inactive --json',
  ],
  async run(context) {
    const { file, set } = context.options
    if (file === undefined && set.length === 0) throw usage('Name what to change, such as --set price=0.75.')
    const fields = {
      ...(file === undefined ? {} : await readObjectFile(context.io, file, 'the listing')),
      ...readSettings(set),
    }
    const session = await context.session()
    return session.call('updateService', {
      params: { id: context.args.service },
      body: unjudged<SentBody<'updateService'>>(fields),
    })
  },
  view: (listing, io) => io.line(`${green('✓')} ${bold(listing.id)} changed   ${listing.name}   ${listing.status}`),
})
