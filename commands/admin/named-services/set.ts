import { namedSlugs } from '../../../src/api/sections/named-services.ts'
import { defineCall } from '../../../src/cli/command.ts'
import { usage } from '../../../src/cli/exit.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { green } from '../../../src/text/text.ts'

const OFF = 'off'

export const command = defineCall({
  name: 'admin named-services set',
  summary: 'set the listing or plan of an advertised path, or close the path',
  description:
    '--from sells a house function on the path at its own price. --listing and --plan make the path an alias. Needs the admin key of the instance.',
  args: z.object({
    slug: z.enum(namedSlugs).meta({ description: 'last part of the path, such as site-audit' }),
    off: z.literal(OFF).optional().meta({ description: 'close the path' }),
  }),
  options: z.object({
    from: z.string().optional().meta({ description: 'house function', value: 'function' }),
    price: z
      .string()
      .optional()
      .meta({ description: 'price with --from, within the advertised range', value: 'amount' }),
    listing: z.string().optional().meta({ description: 'id of a listing', value: 'id' }),
    plan: z.string().optional().meta({ description: 'id of a monthly plan', value: 'id' }),
  }),
  examples: [
    'souk admin named-services set site-audit --from seo_audit --price 5.00',
    'souk admin named-services set site-audit off --json',
  ],
  asks: 'setNamedService',
  asked(context) {
    const { slug, off } = context.args
    const ways = compact(context.options)
    const isNothing = Object.keys(ways).length === 0
    if ((off === undefined) === isNothing) {
      throw usage(`Say what stands behind ${slug}: --from with --price, --listing, --plan, or only the word "${OFF}".`)
    }
    return {
      params: { slug },
      body: off === undefined ? ways : { enabled: false },
    }
  },
  view({ path, enabled, service_id: listing, plan_id: plan, price }, io) {
    io.line(`${green('✓')} ${path} ${enabled ? `sells ${listing ?? plan} at $${price}` : 'is closed: it answers 404'}`)
  },
})
