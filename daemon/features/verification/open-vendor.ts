import { z } from 'zod'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { settings } from '../../kernel/rows.ts'
import { sandboxVendor, type VerificationVendor } from '../../ports/vendor.ts'
import { commit } from '../../store/draw.ts'

export const VENDOR = 'verification_vendor'
const SECRET_BYTES = 32
const Setting = z.strictObject({ callback_secret: z.string() })

export const verificationVendor = defineResource<VerificationVendor>('verification-vendor')

/** The vendor of the sandbox, whose callbacks are signed with a secret of this installation (decisions §6). */
export async function openVendor(parts: Pick<Context, 'store' | 'entropy'>): Promise<VerificationVendor> {
  const fresh = { callback_secret: parts.entropy(SECRET_BYTES).toString('hex') }
  const { callback_secret } = await commit(parts, async (t) => {
    const known = await t.table(settings).getForUpdate(VENDOR)
    if (known) return Setting.parse(known.value)
    await t.table(settings).put({ id: VENDOR, value: fresh })
    return fresh
  })
  return sandboxVendor(Buffer.from(callback_secret, 'hex'))
}
