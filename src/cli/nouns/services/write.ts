import { isDeepStrictEqual } from 'node:util'
import type { ListingChanges, Outcome } from '../../../client/link.ts'
import { jsonOrText } from '../../../core/json.ts'
import { clip, oneLine } from '../../../text/text.ts'
import { problemOf } from '../../cockpit-link.ts'
import type { CommandContext } from '../../command.ts'
import { CliError, usage } from '../../exit.ts'
import { unjudged } from '../../files/document.ts'
import { inEditor } from '../../files/editor.ts'
import { exampleOf } from '../../files/examples.ts'
import type { Session } from '../../session.ts'
import { pairOf } from '../../split-words.ts'

type Fields = Readonly<Record<string, unknown>>

/** Editable fields of a listing. */
const WRITTEN = [
  'name',
  'description',
  'price',
  'pricing_model',
  'fulfillment_type',
  'estimated_delivery',
  'category',
  'tags',
  'input_schema',
  'deliverable_schema',
  'webhook_url',
  'status',
]

export async function listingDraft(fields: Fields): Promise<string> {
  const { stringify } = await import('../../files/yaml.ts')
  return stringify(fields, { aliasDuplicateObjects: false })
}

/** A draft of a new listing: the given fields, and the example's values for all other fields. */
export async function newListing(given: Fields): Promise<string> {
  const names = Object.keys(given)
  const lines = exampleOf('listing').split('\n')
  const rest = lines.filter((line) => !names.some((name) => line.replace(/^# /, '').startsWith(`${name}:`)))
  return `${names.length === 0 ? '' : await listingDraft(given)}${rest.join('\n')}`
}

/** Reads one of the caller's own listings. @throws CliError not_found */
export async function ownListing(session: Session, id: string): Promise<Fields> {
  const { services } = await session.call('getCatalog', {
    query: { mine: 'true', limit: '100' },
    headers: await session.ownHeaders(),
  })
  const found = services.find((listing) => listing.id === id)
  if (found === undefined) {
    throw new CliError('not_found', `${id} is not one of your listings.`, { next: ['souk services list --mine'] })
  }
  return writtenFields(found)
}

/** The editable fields of a listing that the instance returned, as its owner writes them. */
export function writtenFields(found: Fields & { readonly price: { readonly fixed: string | null } }): Fields {
  const all: Fields = { ...found, price: found.price.fixed?.replace('$', '') ?? null }
  return Object.fromEntries(WRITTEN.filter((name) => name in all).map((name) => [name, all[name]]))
}

/** The fields that the draft changes. @throws CliError `cancelled` if it changes none */
export function changesIn(listing: Fields, draft: Fields): Fields {
  const changes = Object.entries(draft).filter(([name, value]) => !isDeepStrictEqual(listing[name], value))
  if (changes.length === 0) throw new CliError('cancelled', 'Nothing was changed.')
  return Object.fromEntries(changes)
}

/** Parses `price=0.50` or `tags=["a"]`: JSON, or else text. @throws CliError usage for a word without `=` */
export function readSettings(pairs: readonly string[]): Record<string, unknown> {
  const typed = pairs.map((pair) => pairOf(pair, `"${pair}" must be like price=0.50.`))
  return Object.fromEntries(typed.map(([name, text]) => [name, jsonOrText(text)]))
}

/** The words of a change, such as `price=0.75`: what `readSettings` reads. */
export function settingsOf(changes: Fields): readonly string[] {
  return Object.entries(changes).map(([name, wanted]) => {
    const isPlain = typeof wanted === 'string' && jsonOrText(wanted) === wanted
    return `${name}=${isPlain ? wanted : JSON.stringify(wanted)}`
  })
}

const VALUE_CHARS_MAX = 100

/** Opens a listing in $VISUAL or $EDITOR, as `souk services edit --editor` does, and sends nothing. */
export async function editedListing(
  context: Pick<CommandContext<unknown, unknown>, 'io' | 'system'>,
  listing: Parameters<typeof writtenFields>[0] & { readonly id: string },
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
