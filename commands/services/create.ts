import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../../src/cli/files/document.ts'
import { inEditor } from '../../src/cli/files/editor.ts'
import { exampleOf, exampleOption } from '../../src/cli/files/examples.ts'
import { newListing, readSettings } from '../../src/cli/nouns/services/write.ts'
import * as z from '../../src/cli/params.ts'
import type { SentBody } from '../../src/client/call.ts'
import { bold, cyan, green, yellow } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services create',
  summary: 'create a listing',
  options: z.object({
    file: z
      .string()
      .optional()
      .meta({ short: 'f', description: `${DOCUMENT} of the listing, - for stdin`, value: 'file' }),
    set: z.array(z.string()).default([]).meta({ description: 'a field of the listing', value: 'field=value' }),
    example: exampleOption,
    editor: z.boolean().default(false).meta({ description: 'write it in $VISUAL or $EDITOR' }),
  }),
  examples: [
    'souk services create --example',
    'souk services create --set name=Echo --set description=Echoes --set price=0.50 --set fulfillment_type=automated',
    'souk services create --set name=Talk --set description=Advice --set pricing_model=quote_required --set fulfillment_type=human --json',
  ],
  async run(context) {
    const { file, set, editor, example } = context.options
    if (example) return { example: exampleOf('listing').trimEnd().split('\n') }
    if (file === undefined && set.length === 0 && !editor)
      throw usage('Give the listing by --file listing.json, --set field=value, or --editor.')
    const fields = {
      ...(file === undefined ? {} : await readObjectFile(context.io, file, 'the listing')),
      ...readSettings(set),
    }
    const session = await context.session()
    const create = (body: Readonly<Record<string, unknown>>) =>
      session.call('createService', { body: unjudged<SentBody<'createService'>>(body) })
    return editor
      ? inEditor(context, { name: 'listing', text: await newListing(fields), take: create })
      : create(fields)
  },
  view(listing, io) {
    if ('example' in listing) {
      for (const line of listing.example) io.line(line)
      return
    }
    const { id, name, provider_net_price: net } = listing
    const isDead = listing.fulfillment_type === 'instant' && listing.webhook_url === null
    const sign = isDead ? yellow('!') : green('✓')
    io.line(`${sign} ${bold(id)} listed   ${name}   you get ${net.fixed ?? 'what you quote'}`)
    if (isDead) io.line('  not for sale yet: an instant listing needs a working endpoint')
    const next = [isDead ? `souk services edit ${id} --set webhook_url=URL` : `souk services view ${id}`]
    if (listing.fulfillment_type === 'automated') next.push(`souk provide ${id} --exec COMMAND`)
    // On stderr also in a pipe: a script's reader learns how to go on.
    io.say(`  next      ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})
