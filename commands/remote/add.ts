import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as params from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { endpoints } from '../../src/client/endpoints.ts'
import { originOf } from '../../src/client/origin.ts'
import { addRemote, remoteNetworks } from '../../src/client/remotes.ts'
import { createTransport, TransportError } from '../../src/client/transport.ts'
import { Address } from '../../src/core/codecs.ts'
import { shellLine } from '../../src/text/shell.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

const Terms = z.looseObject({ service: z.string(), chain: z.looseObject({ asset: Address }).optional() })

export const command = defineCommand({
  name: 'remote add',
  summary: 'add an instance by its address',
  description:
    'Real USDC is signed for only where --network base says so; anything else pays with that instance’s own test token.',
  args: params.object({
    name: params.string().meta({ description: 'what to call it' }),
    url: params.string().meta({ description: 'its address' }),
  }),
  options: params.object({
    network: params.enum(remoteNetworks).default('sandbox').meta({ description: 'what it settles on' }),
    protected: params.boolean().default(false).meta({ description: 'changes ask for its name to be typed' }),
    adminKeyStdin: params.boolean().default(false).meta({ description: 'read its admin credential from stdin' }),
  }),
  examples: [
    'souk remote add shop https://market.example --dry-run',
    'souk remote add shop https://market.example --network base --dry-run',
  ],
  async run({ args, globals, io, options, places }) {
    const url = originOf(args.url)
    wouldDo(globals, `add ${args.name}: ${url}, ${options.network}`)
    const terms = await termsOf(url)
    const adminKey = options.adminKeyStdin ? (await io.stdin()).trim() : undefined
    const assets = terms.chain === undefined ? {} : { assets: [terms.chain.asset] }
    const remote = addRemote(places, {
      name: args.name,
      url,
      network: options.network,
      ...assets,
      ...(options.protected ? { protected: true } : {}),
    })
    if (adminKey) (await import('../../src/client/secrets.ts')).keepAdminKey(places, remote.name, adminKey)
    return { name: remote.name, url, network: remote.network }
  },
  view({ name, url, network }, io) {
    io.line(`${green('✓')} ${bold(name)}   ${url}   ${network}`)
    io.note(
      `  next      ${cyan(io.hint(shellLine`souk status -r ${name}`))}    ${cyan(io.hint(shellLine`souk remote use ${name}`))}`,
    )
  },
})

async function termsOf(url: string): Promise<z.output<typeof Terms>> {
  const [method, path] = endpoints.getHealth
  try {
    const answer = await createTransport({ baseUrl: url })({ method, path })
    return Terms.parse(JSON.parse(await answer.text()))
  } catch (cause) {
    const why = cause instanceof TransportError ? cause.message : 'its /health is not that of a marketplace'
    throw new CliError('no_daemon', `No marketplace answers at ${url}.`, { facts: [why], cause })
  }
}
