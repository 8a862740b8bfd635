import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../../src/cli/files/document.ts'
import { inEditor } from '../../src/cli/files/editor.ts'
import { changesIn, listingDraft, ownListing, readSettings } from '../../src/cli/nouns/services/write.ts'
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
      .meta({ short: 'f', description: `${DOCUMENT} of the changes, - for stdin`, value: 'file' }),
    set: z.array(z.string()).default([]).meta({ description: 'a field of the listing', value: 'field=value' }),
    editor: z.boolean().default(false).meta({ description: 'edit it in $VISUAL or $EDITOR' }),
  }),
  examples: [
    'souk services edit svc_0123456789abcdef --set price=0.75',
    'souk services edit svc_0123456789abcdef --set status=inactive --json',
  ],
  prints: 'updateService',
  async run(context) {
    const { file, set, editor } = context.options
    if (file === undefined && set.length === 0 && !editor)
      throw usage('Name what to change, such as --set price=0.75, or use --editor.')
    const fields = {
      ...(file === undefined ? {} : await readObjectFile(context.io, file, 'the listing')),
      ...readSettings(set),
    }
    const session = await context.session()
    const { service: id } = context.args
    const update = (body: Readonly<Record<string, unknown>>) =>
      session.call('updateService', { params: { id }, body: unjudged<SentBody<'updateService'>>(body) })
    if (!editor) return update(fields)
    const listing = await ownListing(session, id)
    const text = await listingDraft({ ...listing, ...fields })
    return inEditor(context, { name: id, text, take: (draft) => update(changesIn(listing, draft)) })
  },
  view: (listing, io) => io.line(`${green('✓')} ${bold(listing.id)} changed   ${listing.name}   ${listing.status}`),
})
