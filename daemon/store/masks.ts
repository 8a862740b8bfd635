/**
 * What becomes of a text where a store is copied without its people (`souk export --anonymise`). Whatever cannot hold
 * a text, numbers and words of a fixed list, stays; every text says one of these, or the copy is not made:
 *
 * `ours`    written by this program: ids, wallets and hashes in it get other ones, the same everywhere; the rest stays
 * `text`    somebody's words: other ones in their place, the same for the same
 * `empty`   somebody's document: an empty one
 * `gone`    null, or left out
 * `url`     an address that leads nowhere
 * `secret`  another secret of the same form
 * `file`    a file, or the SHA-256 of one: a sentence in its place
 *
 * or a mask for each member of what stands there.
 */
export type Mask = 'ours' | 'text' | 'empty' | 'gone' | 'url' | 'secret' | 'file' | Masks
export type Masks = { readonly [member: string]: Mask }

/** Rows that a copy without people does without. */
export const LEFT_OUT = 'left out'

/** The same mask for several members. */
export function masked(mask: Mask, ...members: readonly string[]): Masks {
  return Object.fromEntries(members.map((member) => [member, mask]))
}

/** Members that hold what this program wrote. */
export const ours = (...members: readonly string[]): Masks => masked('ours', ...members)

/** Of the terms of a sale, wherever a row keeps them (`SaleTerms`). */
export const saleTermsMasks: Masks = { estimated_delivery: 'text', deliverable_schema: 'empty' }
