/** What a list says of itself, as far as it is compared. */
export type SdnFacts = {
  readonly publishDate: string | null
  readonly recordCount: number | null
  readonly entries: number
  /** EVM addresses in it. */
  readonly addresses: number
}

/** The list that is held, of the same source. */
export type HeldSdn = { readonly publishDate: string; readonly addresses: number }

/** A list shrinks by delistings, but not to less than this part at once unless the operator says that it did. */
const LEAST_OF_HELD_PCT = 50
const WHOLE_PCT = 100

/** Why a list must not replace the one that is held; undefined when it may. */
export function sdnFault(
  list: SdnFacts,
  held: HeldSdn | undefined,
  options: { readonly acceptShrink?: boolean } = {},
): string | undefined {
  const { publishDate, recordCount, entries, addresses } = list
  if (publishDate === null) return 'it has no publish date'
  if (recordCount === null) return 'it does not say how many entries it holds'
  if (recordCount !== entries) return `it says that it holds ${recordCount} entries, and holds ${entries}`
  if (addresses === 0) return 'it holds no EVM address'
  if (!held) return undefined
  if (publishDate < held.publishDate) return `it is of ${publishDate}, older than the one held of ${held.publishDate}`
  const isShrunk = addresses * WHOLE_PCT < held.addresses * LEAST_OF_HELD_PCT
  if (!isShrunk || options.acceptShrink) return undefined
  return `it holds ${addresses} EVM addresses, less than half of the ${held.addresses} held`
}
