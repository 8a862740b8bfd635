import type { ListingChanges, Outcome } from '../../../client/link.ts'
import { clip, oneLine } from '../../../text/text.ts'
import { problemOf } from '../../cockpit-link.ts'
import type { CommandContext } from '../../command.ts'
import { usage } from '../../exit.ts'
import { unjudged } from '../../files/document.ts'
import { inEditor } from '../../files/editor.ts'
import { changesIn, listingDraft, settingsOf, writtenFields } from './write.ts'

type Listing = Parameters<typeof writtenFields>[0] & { readonly id: string }

const VALUE_CHARS_MAX = 100

/** Opens a listing in $VISUAL or $EDITOR, as `souk services edit --editor` does, and sends nothing. */
export async function editedListing(
  context: Pick<CommandContext<unknown, unknown>, 'io' | 'system'>,
  listing: Listing,
): Promise<Outcome<ListingChanges>> {
  try {
    const before = writtenFields(listing)
    const changes = await inEditor(context, {
      name: listing.id,
      text: await listingDraft(before),
      async take(draft) {
        const wanted = changesIn(before, draft)
        const { ListingChange } = await import('../../../api/sections/services.ts')
        const issues = ListingChange.safeParse(wanted).error?.issues ?? []
        const facts = issues.map(({ path, message }) => [...path, message].join(' '))
        if (facts.length > 0) throw usage('The listing is not valid.', { facts })
        return wanted
      },
    })
    const differences = Object.entries(changes).map(
      ([field, value]) => [field, `${shown(before[field])} → ${shown(value)}`] as const,
    )
    return { ok: true, value: { body: unjudged(changes), settings: settingsOf(changes), differences } }
  } catch (error) {
    return { ok: false, problem: problemOf(error) }
  }
}

function shown(value: unknown): string {
  return clip(oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? '—')), VALUE_CHARS_MAX)
}
