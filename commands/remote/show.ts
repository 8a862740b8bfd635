import { defineCommand } from '../../src/cli/command.ts'
import { readHealth } from '../../src/cli/nouns/health.ts'
import { bold } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'remote show',
  summary: 'show the current instance as it describes itself',
  examples: ['souk remote show', 'souk remote show --json'],
  async run(context) {
    const { target, ...session } = await context.session()
    const health = await readHealth({ target, ...session })
    const { service, version, status, network, pay_to, chain, instance_id } = health
    const { name, url, fingerprint = null } = target
    return { name, url, service, version, status, network, chain, pay_to, instance_id, fingerprint }
  },
  view({ name, url, version, status, network, chain, pay_to, instance_id, fingerprint }, io) {
    io.line(`${bold(name)}   ${url}   v${version}   ${status}`)
    io.line(`  settles   ${network} (${chain.mode}), asset ${chain.asset}`)
    io.line(`  paid to   ${pay_to}`)
    io.line(`  instance  ${instance_id}`)
    if (fingerprint !== null) io.line(`  pinned    ${fingerprint}`)
  },
})
