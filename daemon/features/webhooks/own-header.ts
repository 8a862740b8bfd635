import type { Context } from '../../kernel/context.ts'
import { installation } from '../../kernel/identity.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { seal, unseal } from '../../kernel/sealed.ts'

/* A custom header of a participant, sent to its endpoints. The header's value is sealed. */

type Owner = Pick<ParticipantRow, 'id' | 'endpoint_header'>
type Given = {
  readonly owner: Owner
  /** Undefined leaves the header unchanged, null removes it. */
  readonly given: { readonly name: string; readonly value: string } | null | undefined
  readonly iv: Buffer
}

export function sealedHeader(ctx: Context, { owner, given, iv }: Given): Pick<ParticipantRow, 'endpoint_header'> {
  if (given === null) return {}
  if (given === undefined) return owner.endpoint_header ? { endpoint_header: owner.endpoint_header } : {}
  return { endpoint_header: { name: given.name, box: seal(given.value, sealKey(ctx, owner), iv) } }
}

/** Returns a function that reads an owner's custom header. The result is empty if another admin key sealed it. */
export function readsOwnHeader(ctx: Context): (owner: Owner) => Readonly<Record<string, string>> {
  return (owner) => {
    const { endpoint_header: header } = owner
    const value = header && unseal(header.box, sealKey(ctx, owner))
    return header && typeof value === 'string' ? { [header.name]: value } : {}
  }
}

function sealKey(ctx: Context, { id }: Owner) {
  return { proof: installation.of(ctx).sealingSecret, idempotencyKey: id }
}
