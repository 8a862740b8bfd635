import { defineCall } from '../../src/cli/command.ts'

export const command = defineCall({
  name: 'discovery manifest',
  summary: 'show the x402 manifest: payee, chain and paid endpoints',
  examples: ['souk discovery manifest', "souk discovery manifest -q '.payTo'"],
  asks: 'getManifest',
  asked: () => ({}),
  view({ payTo, network, resources, discovery, search, openapi }, io) {
    io.line(`pays      ${payTo} on ${network}`)
    io.line(`lists     ${discovery}   ${search}`)
    io.line(`openapi   ${openapi}`)
    io.line(`sells at  ${resources.length} addresses`)
    for (const resource of resources) io.line(`  ${resource}`)
  },
})
