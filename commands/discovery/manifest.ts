import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'discovery manifest',
  summary: 'show the x402 manifest: payee, chain and paid endpoints',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk discovery manifest', "souk discovery manifest -q '.payTo'"],
  run: async (context) => (await context.session()).call('getManifest', {}),
  view({ payTo, network, resources, discovery, search, openapi }, io) {
    io.line(`pays      ${payTo} on ${network}`)
    io.line(`lists     ${discovery}   ${search}`)
    io.line(`openapi   ${openapi}`)
    io.line(`sells at  ${resources.length} addresses`)
    for (const resource of resources) io.line(`  ${resource}`)
  },
})
